"""``vitcheck gradebook``: what was graded, what was decided about it, and taking both elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from json import dumps
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vitcheck import exits
from vitcheck.commands.forgetting import DEFAULT, purge, remove
from vitcheck.decision_tables import read_decisions, read_marks
from vitcheck.gradebook_entries import one_called, some
from vitcheck.options import OUTPUT, PATH, existing, gradebook_option, open_or_refuse, refusing
from vitcheck.pseudonyms import names_in, pseudonyms_option, real

if TYPE_CHECKING:
    from vitcheck.checks.classes.gradebook.store import Gradebook


class _PointsType(click.ParamType[dict[str, Any]]):
    """``+3`` and ``-3`` change the points, ``85`` takes the place of those earned."""

    name = "points"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        number = click.FLOAT.convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is not a number of points", param, ctx)
        if value.startswith(("+", "-")):
            return {"delta": number, "override": None}
        return {"delta": 0.0, "override": number}


class _MarkType(click.ParamType[tuple[str, float | None]]):
    """``q1=2`` gives 2 points for q1, ``q1=`` takes them back."""

    name = "mark"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float | None]:
        question, equals, number = value.partition("=")
        if not question or not equals:
            self.fail(f"{value} is not a mark such as q1=2", param, ctx)
        if not number:
            return question, None
        given = click.FLOAT.convert(number, param, ctx)
        if not isfinite(given) or given < 0:
            self.fail(f"{number} is not a number of points for {question}", param, ctx)
        return question, given


def _of_gradebook(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that all of these have."""
    of_one = click.option("--assignment", metavar="NAME", help="Of this assignment alone.")
    return gradebook_option(DEFAULT)(of_one(command))


@click.group()
def gradebook() -> None:
    """What was graded, and what you decide about it.

    Points, comments, extra time and late days that are put in here stay when submissions are graded again.
    `vitcheck grade` writes them into the reports.
    """


@gradebook.command("list")
@_of_gradebook
def list_(gradebook: str | None, assignment: str | None) -> None:
    """List each submission with the points that count."""
    from vitcheck.gradebook_text import entry_line
    from vitcheck.reports.words.alike import alike

    with _opened(gradebook) as book:
        entries = some(book, assignment)
    doubtful = alike(one.attempt.submission for one in entries)
    several = len({one.attempt.run.assignment for one in entries}) > 1
    for entry in entries:
        line = entry_line(entry, spelled=entry.attempt.submission in doubtful)
        click.echo(f"{entry.attempt.run.assignment}  " * several + line)


@gradebook.command()
@click.argument("name")
@_of_gradebook
def history(name: str, gradebook: str | None, assignment: str | None) -> None:
    """Show when the submission NAME was graded, and what was decided about it."""
    from vitcheck.gradebook_text import event_line

    with _opened(gradebook) as book:
        about = one_called(some(book, assignment), name).attempt.run.assignment
        for event in book.history(about, name):
            click.echo(event_line(event))


@gradebook.command()
@click.argument("name", required=False)
@click.option(
    "--csv",
    "table",
    type=PATH,
    callback=existing,
    help="Decide about many: a table with the column submission, and any of points, comment, extra_time and"
    " late_days. Empty cells change nothing.",
)
@click.option(
    "--points", type=_PointsType(), metavar="+N|-N|N", help="Add, take away, or set; +0 is as earned."
)
@click.option("--comment", help="Why; the student reads it.")
@click.option("--extra-time", "extra_hours", type=click.IntRange(min=0), help="Hours that were granted.")
@click.option("--late-days", type=click.IntRange(min=0), help="Days that were used.")
@_of_gradebook
def adjust(
    name: str | None,
    table: Path | None,
    gradebook: str | None,
    assignment: str | None,
    points: dict[str, Any] | None,
    **given: Any,
) -> None:
    """Decide about the submission NAME, or those in a table. What is not given stays as it was.

    Extra time and late days are kept and shown; no points follow from them.
    """
    import psutil

    from vitcheck.gradebook_text import entry_line

    changes = (points or {}) | {key: value for key, value in given.items() if value is not None}
    if table is not None:
        if name is not None or changes:
            raise click.UsageError("with --csv, names and changes stand in the table")
        decisions = read_decisions(table, _PointsType())
    elif name is None or not changes:
        raise click.UsageError(
            "nothing to change: give NAME and --points, --comment, --extra-time or --late-days, or --csv FILE"
        )
    else:
        decisions = {name: changes}
    with _opened(gradebook) as book:
        entries = some(book, assignment)
        found = [
            (one_called(entries, one), what) for one, what in decisions.items()
        ]  # all, before any changes
        for entry, what in found:
            about = entry.attempt.run.assignment
            book.adjust(about, entry.attempt.submission, psutil.Process().username(), **what)
            click.echo(entry_line(one_called(some(book, about), entry.attempt.submission)))


@gradebook.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@_of_gradebook
def confirm(names: tuple[str, ...], gradebook: str | None, assignment: str | None) -> None:
    """Keep what was decided about the submission NAME for the version that was graded last.

    What was decided about one version of a file still counts for the next, but it is listed until somebody
    confirms or changes it.
    """
    import psutil

    from vitcheck.gradebook_text import entry_line

    with _opened(gradebook) as book:
        for name in names:
            about = one_called(some(book, assignment), name).attempt.run.assignment
            book.adjust(about, name, psutil.Process().username())
            click.echo(entry_line(one_called(some(book, about), name)))


@gradebook.command()
@click.argument("name", required=False)
@click.argument("marks", nargs=-1, type=_MarkType(), metavar="[QUESTION=POINTS]...")
@click.option(
    "--csv",
    "tables",
    type=PATH,
    multiple=True,
    callback=existing,
    help="Of many: a table with the column submission and one for each question; repeatable.",
)
@_of_gradebook
def mark(
    name: str | None,
    gradebook: str | None,
    assignment: str | None,
    marks: tuple[tuple[str, float | None], ...],
    tables: tuple[Path, ...],
) -> None:
    """Give points for the answers of the submission NAME, such as q1=2 q2=0.5.

    What is not given stays as it was; q1= takes the points of q1 back. The answers stand beside what to look
    for in marking.html, in the folder of the submission's report; and question by question in the folder
    marking, on pages that write a table for --csv.
    """
    import psutil

    from vitcheck.commands.marking import new_marks
    from vitcheck.gradebook_text import entry_line

    if tables and name is None:
        given = read_marks(tables)
    elif name is None or not marks or tables:
        raise click.UsageError("give NAME and QUESTION=POINTS, or --csv FILE")
    else:
        given = {name: dict(marks)}
    with _opened(gradebook) as book:
        entries, new = some(book, assignment), []
        for one, asked in given.items():  # all, before any is changed
            entry = one_called(entries, one)
            with refusing(ValueError, parameter="--csv" if tables else "QUESTION=POINTS"):
                new.append((entry, new_marks(book.result(entry.attempt.id), entry.adjustment, asked)))
        for entry, decided in new:
            about = entry.attempt.run.assignment
            book.adjust(about, entry.attempt.submission, psutil.Process().username(), marks=decided)
            click.echo(entry_line(one_called(some(book, about), entry.attempt.submission)))


@gradebook.command()
@click.option("--csv", type=OUTPUT, help="Write a table there.")
@click.option("--json", type=OUTPUT, help="Write the same as JSON there.")
@pseudonyms_option
@_of_gradebook
def export(
    csv: Path | None,
    json: Path | None,
    pseudonyms: Path | None,
    gradebook: str | None,
    assignment: str | None,
) -> None:
    """Write all grades to files."""
    from vitcheck.gradebook_text import entry_row
    from vitcheck.reports.formats.grade_tables import csv_text
    from vitcheck.reports.writer import write_whole

    if not csv and not json:
        raise click.UsageError("nowhere to write to: give --csv FILE, --json FILE or both")
    with _opened(gradebook) as book:
        rows = [entry_row(one) for one in some(book, assignment)]
    names = names_in(pseudonyms) if pseudonyms else {}
    rows = [{**one, "submission": real(names, str(one["submission"]))} for one in rows]
    if csv:
        write_whole(csv, csv_text(list(rows[0]), rows).encode())
    if json:
        write_whole(json, f"{dumps(rows, indent=1, ensure_ascii=False)}\n".encode())


for command in (remove, purge):
    gradebook.add_command(command)


@contextmanager
def _opened(place: str | None) -> Iterator[Gradebook]:
    from vitcheck.checks.classes.gradebook.gradebook_error import GradebookError

    with open_or_refuse(place or DEFAULT) as book:
        try:
            yield book
        except GradebookError as error:
            click.echo(error, err=True)
            sys.exit(exits.HARNESS)
