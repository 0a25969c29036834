"""``vitcheck release``: what students get of a graded class."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.gradebook_entries import all_of_one, one_called, standing_result
from vitcheck.options import PATH, existing, gradebook_option, open_or_refuse
from vitcheck.pseudonyms import names_in, pseudonyms_option, told_by_name

if TYPE_CHECKING:
    from vitcheck.checks.classes.gradebook.store import Gradebook
    from vitcheck.checks.classes.gradebook.work import Entry

_MOMENTS = ("visible", "after_due_date", "after_published")


@click.command()
@click.argument("grades", metavar="GRADES", type=PATH, callback=existing)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder for students' pages, with one folder for each submission.",
)
@click.option(
    "--up-to",
    type=click.Choice(_MOMENTS),
    default=_MOMENTS[0],
    show_default=True,
    help="Show what [visibility] of the assignment lets students see by then.",
)
@pseudonyms_option
@click.option("--assignment", metavar="NAME", help="If the gradebook has several, one of them.")
@gradebook_option("GRADES/gradebook.sqlite")
def release(
    grades: Path,
    names: tuple[str, ...],
    out: Path,
    up_to: str,
    pseudonyms: Path | None,
    assignment: str | None,
    gradebook: str | None,
) -> None:
    """Write what students may see of the class in GRADES, and note in its history that they got it.

    Each submission, or each NAME, gets a folder with report.html and result.json: without rubrics, without
    checks that are shown later, and without all that these found. GRADES itself is for instructors.
    """
    from vitcheck.checks.classes.gradebook.gradebook_error import GradebookError

    if out.resolve() == grades.resolve():
        raise click.UsageError(f"{out} holds what is for instructors: name another folder with --out")
    with open_or_refuse(gradebook or str(grades / "gradebook.sqlite")) as book:
        chosen = _chosen(book, names, assignment)
        try:
            _release(book, chosen, out, up_to, names_in(pseudonyms) if pseudonyms else {})
        except (GradebookError, OSError) as error:
            click.echo(f"{error}. The same command writes the rest.", err=True)
            sys.exit(exits.HARNESS)
    noun = "submission" if len(chosen) == 1 else "submissions"
    click.echo(f"{out} has what the students of {len(chosen)} {noun} may see (up to: {up_to})")


def _chosen(book: Gradebook, names: Sequence[str], assignment: str | None) -> list[Entry]:
    entries = all_of_one(book, assignment)
    return [one_called(entries, name) for name in names] or entries


def _release(
    book: Gradebook, entries: Sequence[Entry], out: Path, up_to: str, names: Mapping[str, str]
) -> None:
    import psutil

    from vitcheck.checks.record.for_students import for_students
    from vitcheck.checks.record.result import Visibility
    from vitcheck.reports.writer import write_for_student

    who, until = psutil.Process().username(), Visibility(up_to)
    for entry in entries:
        told = told_by_name(for_students(standing_result(book, entry), until), names)
        write_for_student(told, out / told.submission)
        book.release(entry.attempt, up_to, who)
