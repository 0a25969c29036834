"""``vitcheck validate``: an assignment tried before it is handed out."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.commands.engine_options import jobs_option
from vitcheck.options import OUTPUT, PATH, checks_option, existing, refusing

if TYPE_CHECKING:
    from vitcheck.checks.tools.course.validation import Validation


@click.command()
@click.argument("assignment", metavar="ASSIGNMENT")
@click.option("--solution", required=True, type=PATH, callback=existing, help="One that is right.")
@click.option("--wrong", multiple=True, type=PATH, callback=existing, help="One that is wrong; repeatable.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="The solution has to be right under so many.",
)
@checks_option
@jobs_option
@click.option("--json", type=OUTPUT, help="Write all there.")
def validate(
    assignment: str,
    solution: Path,
    wrong: tuple[Path, ...],
    seeds: int,
    checks: Path | None,
    jobs: int | None,
    json: Path | None,
) -> None:
    """Try ASSIGNMENT, a file or one that ships, before it is handed out.

    The solution has to get all points. A wrong one has to lose some; by its mistake, if its name is the id
    of one or it has a line such as `# MISTAKE scale-missing`. Then known mistakes are planted in the
    reference, to see which the assignment would not catch. All of it runs with your rights: nothing here is
    locked in.
    """
    from vitcheck.validating_text import lines

    found = _validated(assignment, solution, wrong, seeds, checks, jobs or os.cpu_count() or 1)
    if json:
        from vitcheck.reports.writer import write_whole

        write_whole(json, f"{found.model_dump_json(indent=1)}\n".encode())
    click.echo("\n".join(lines(found)))
    sys.exit(exits.WRONG if found.problems else exits.FINE)


def _validated(
    name: str, solution: Path, wrong: tuple[Path, ...], seeds: int, checks: Path | None, jobs: int
) -> Validation:
    from rich.console import Console
    from rich.progress import Progress

    from vitcheck.checks.assignment.assignment import AssignmentError, assignment_text, parse_assignment
    from vitcheck.checks.classes.engines.local import Local
    from vitcheck.checks.tools.course.validating import validate

    with refusing(AssignmentError, parameter="ASSIGNMENT"):
        text = assignment_text(name)
        asked = parse_assignment(text, name)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("grading", total=None)
        try:
            return validate(
                asked,
                text,
                solution,
                wrong,
                seeds=seeds,
                engine=Local(jobs),
                checks=checks,
                done=lambda number, of: progress.update(bar, completed=number, total=of),
            )
        except KeyboardInterrupt:
            sys.exit(exits.INTERRUPTED)
        except RuntimeError as error:
            click.echo(f"{error}, which says nothing of the assignment", err=True)
            sys.exit(exits.HARNESS)
