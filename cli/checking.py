"""``vitcheck check``: one submission, in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.options import OUTPUT, PATH, SEEDS, assignment_option, existing, guarded, load

if TYPE_CHECKING:
    from vitcheck.checks.result import Result


def _key(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    from vitcheck.reference.stages import stage

    try:
        return stage(value).key if value is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("file", type=PATH, callback=existing)
@assignment_option
@click.option("--stage", "key", metavar="STAGE", callback=_key, help="Show this stage alone, such as S12.")
@click.option("--html", type=OUTPUT, help="Write the report there.")
@click.option("--json", type=OUTPUT, help="Write the result there, as data.")
@click.option(
    "--seed", type=SEEDS, default=0, show_default=True, help="Sizes, weights and images are drawn from it."
)
@click.option(
    "--watch",
    is_flag=True,
    help="Check again at every save, until Ctrl-C, which exits with 0; a report refreshes itself meanwhile.",
)
def check(
    file: Path,
    assignment: str,
    key: str | None,
    html: Path | None,
    json: Path | None,
    seed: int,
    watch: bool,
) -> None:
    """Check one FILE, and say what is wrong first, and where.

    It may be a notebook, a folder or an archive as well.
    """
    if watch:
        from vitcheck.outputs import Output
        from vitcheck.watching import watch_and_check

        watch_and_check(file, load(assignment), seed, Output(key, html, json))
        sys.exit(exits.FINE)
    result = _graded(file, assignment, seed)
    from vitcheck.outputs import Output  # after the start of the process that runs the code

    output = Output(key, html, json)
    output.write(result)
    output.print(result)
    sys.exit(exits.WRONG if output.is_wrong(result) else exits.FINE)


def _graded(file: Path, name: str, seed: int) -> Result:
    from vitcheck.checks.grader import grader
    from vitcheck.submissions.process import Zygote

    with Zygote() as zygote:  # it imports torch while this process imports its own
        assignment = load(name)
        with guarded():
            return grader()(file.resolve(), assignment, zygote=zygote, seed=seed)
