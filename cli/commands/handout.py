"""``vitcheck handout``: the assignment as students get it."""

from __future__ import annotations

from pathlib import Path

import click

from vitcheck.options import OUTPUT, refusing


@click.command()
@click.argument("assignment", metavar="ASSIGNMENT")
@click.option("--out", type=OUTPUT, help="The file.  [default: the terminal]")
def handout(assignment: str, out: Path | None) -> None:
    """Write what students get of ASSIGNMENT, a file or one that ships.

    It lacks comments, rubrics, and which checks are shown later. Where students check their own work with it,
    they see what [visibility] shows at once.
    """
    from vitcheck.checks.assignment.assignment import AssignmentError, assignment_text
    from vitcheck.checks.tools.course.for_handout import handout_text
    from vitcheck.reports.writer import write_whole

    with refusing(AssignmentError, parameter="ASSIGNMENT"):
        text = handout_text(assignment_text(assignment), assignment)
    if out is None:
        click.echo(text, nl=False)
        return
    if Path(assignment).exists() and out.resolve() == Path(assignment).resolve():
        raise click.UsageError(f"{out} is the assignment itself: name another file with --out")
    write_whole(out, text.encode())
