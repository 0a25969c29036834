"""``vitcheck check``: one submission, in the terminal."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.options import PATH, SEEDS, assignment_option, existing, load

if TYPE_CHECKING:
    from vitcheck.checks.result import Result

_OUTPUT = click.Path(dir_okay=False, writable=True, path_type=Path)


def _key(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    from vitcheck.checks.family import stage_of_any

    try:
        return stage_of_any(value).key if value is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("file", type=PATH, callback=existing)
@assignment_option
@click.option("--stage", "key", metavar="STAGE", callback=_key, help="Show this stage alone, such as S12.")
@click.option("--html", type=_OUTPUT, help="Write the report there.")
@click.option("--json", type=_OUTPUT, help="Write the result there, as data.")
@click.option(
    "--seed", type=SEEDS, default=0, show_default=True, help="Sizes, weights and images are drawn from it."
)
def check(
    file: Path, assignment: str, key: str | None, html: Path | None, json: Path | None, seed: int
) -> None:
    """Check one FILE, and say what is wrong first, and where.

    It may be a notebook, a folder or an archive as well.
    """
    from rich.console import Console

    result = _graded(file, assignment, seed)
    from vitcheck.reports import render_report, verdict
    from vitcheck.stage_text import stage_text

    if html:
        html.write_text(render_report(result), encoding="utf-8")
    if json:
        json.write_text(result.to_json(), encoding="utf-8")
    label = next((label for label, one in result.stages.items() if one.key == key), None)
    Console(highlight=False).print(stage_text(result, label) if label else verdict(result))
    sys.exit(exits.WRONG if _is_wrong(result, label) else exits.FINE)


def _graded(file: Path, name: str, seed: int) -> Result:
    from vitcheck.checks.grader import grader
    from vitcheck.submissions.process import Zygote

    with Zygote() as zygote:  # it imports torch while this process imports its own
        assignment = load(name)
        try:
            return grader()(file.resolve(), assignment, zygote=zygote, seed=seed)
        except KeyboardInterrupt:
            sys.exit(exits.INTERRUPTED)
        except Exception:
            traceback.print_exc()
            click.echo("The grader itself failed, which says nothing of the work", err=True)
            sys.exit(exits.HARNESS)


def _is_wrong(result: Result, label: str | None) -> bool:
    """Whether the stage is, or without one anything."""
    from vitcheck.checks.result import StageStatus
    from vitcheck.reports.standing import standing

    if label:
        return result.stages[label].status in (StageStatus.FAILED, StageStatus.NOT_REACHED)
    return standing(result).tone != "right"
