"""``vitcheck gradebook remove`` and ``purge``: what is kept of students is deleted, with their reports."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck.gradebook_entries import one_called, some, standing_result
from vitcheck.options import PATH, existing, gradebook_option, open_or_refuse

if TYPE_CHECKING:
    from vitcheck.checks.classes.gradebook.store import Gradebook
    from vitcheck.checks.classes.gradebook.work import Entry

DEFAULT = "grades/gradebook.sqlite"

_folders = click.option(
    "--folder",
    "folders",
    type=PATH,
    multiple=True,
    callback=existing,
    help="A folder with reports, such as that of `vitcheck release`; repeatable. The gradebook's is one.",
)
_assignment = click.option("--assignment", metavar="NAME", help="Of this assignment alone.")
_yes = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@_folders
@_yes
@gradebook_option(DEFAULT)
@_assignment
def remove(
    names: tuple[str, ...],
    folders: tuple[Path, ...],
    yes: bool,
    gradebook: str | None,
    assignment: str | None,
) -> None:
    """Delete the submission NAME, such as one that was renamed: its results, its history, its reports.

    The class's page and tables are written anew without it. What was exported elsewhere stays there.
    """
    place = gradebook or DEFAULT
    with open_or_refuse(place) as book:
        entries = some(book, assignment)
        _forget(book, [one_called(entries, name) for name in names], _all(folders, place), yes)


@click.command()
@click.option("--older-than", "days", type=click.IntRange(min=1), required=True, metavar="DAYS", help="Days.")
@_folders
@_yes
@gradebook_option(DEFAULT)
@_assignment
def purge(
    days: int, folders: tuple[Path, ...], yes: bool, gradebook: str | None, assignment: str | None
) -> None:
    """Delete each submission to which nothing has happened for so many days, as `remove` does."""
    place = gradebook or DEFAULT
    with open_or_refuse(place) as book:
        since = datetime.now(timezone.utc) - timedelta(days=days)
        old = [one for one in book.entries(assignment) if _last(book, one) < since]
        _forget(book, old, _all(folders, place), yes)


def _last(book: Gradebook, entry: Entry) -> datetime:
    events = book.history(entry.attempt.run.assignment, entry.attempt.submission)
    return max(one.at for one in events)


def _all(folders: Sequence[Path], place: str) -> list[Path]:
    """Those that are named, and that of a gradebook in a file."""
    return [*folders, *([] if "://" in place else [Path(place).parent])]


def _forget(book: Gradebook, entries: Sequence[Entry], folders: Sequence[Path], yes: bool) -> None:
    from vitcheck.reports.words.text import NAME_LIMIT, one_line

    if not entries:
        click.echo("nothing to delete")
        return
    for entry in entries:
        attempt = entry.attempt
        click.echo(f"{attempt.run.assignment}  {one_line(attempt.submission, NAME_LIMIT)}")
    if not yes:
        click.confirm(f"Delete these {len(entries)}, with reports and history?", abort=True)
    for entry in entries:
        book.remove(entry.attempt.run.assignment, entry.attempt.submission)
        for folder in folders:
            _delete(folder, entry.attempt.submission)
    book.clear()
    for folder in folders:
        _write_class_anew(book, folder)
    click.echo(f"{len(entries)} deleted")


def _delete(folder: Path, name: str) -> None:
    """Its folder of reports, and no other."""
    reports = folder / name
    if not reports.is_symlink() and (reports / "result.json").is_file():
        shutil.rmtree(reports)


def _write_class_anew(book: Gradebook, folder: Path) -> None:
    """The page and tables of those that stand in them and are still there."""
    from vitcheck.reports.writer import write_class

    table = folder / "grades.json"
    if not table.is_file():
        return
    listed = {one["submission"] for one in json.loads(table.read_text())["submissions"]}
    entries = [one for one in book.entries() if one.attempt.submission in listed]
    newest = max((one.attempt.run_id for one in entries), default=None)
    of_class = [one for one in entries if one.attempt.run.assignment == _assignment_of(entries, newest)]
    write_class((standing_result(book, one) for one in of_class), folder)


def _assignment_of(entries: Sequence[Entry], run: int | None) -> str | None:
    """That of the last run, whose table it is."""
    return next((one.attempt.run.assignment for one in entries if one.attempt.run_id == run), None)
