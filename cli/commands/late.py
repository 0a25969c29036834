"""``vitcheck late``: who handed in late, and what the assignment's policy says of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck.options import (
    PATH,
    assignment_option,
    existing,
    gradebook_option,
    load,
    open_or_refuse,
    refusing,
)
from vitcheck.pseudonyms import names_in, pseudonyms_option, real

if TYPE_CHECKING:
    from vitcheck.checks.assignment.asked_late import LatePolicy
    from vitcheck.checks.classes.gradebook.store import Gradebook
    from vitcheck.checks.classes.gradebook.work import Entry
    from vitcheck.checks.record.lateness import Lateness

_GIT_SECONDS = 10
_GIT = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}


@click.command()
@click.argument("grades", metavar="GRADES", type=PATH, callback=existing)
@assignment_option
@click.option(
    "--times",
    type=PATH,
    callback=existing,
    help="When work was handed in: Canvas's submissions (JSON), Moodle's grading worksheet, Gradescope's"
    " grades, or a CSV with the columns submission and submitted.",
)
@click.option(
    "--git",
    type=PATH,
    callback=existing,
    help="A folder of repositories, one for each submission: the time of the last commit counts.",
)
@click.option("--apply", is_flag=True, help="Take the points, as adjustments; nothing else takes any.")
@pseudonyms_option
@gradebook_option("GRADES/gradebook.sqlite")
def late(
    grades: Path,
    assignment: str,
    times: Path | None,
    git: Path | None,
    apply: bool,
    pseudonyms: Path | None,
    gradebook: str | None,
) -> None:
    """Say who of the class in GRADES handed in late, and what [late] of the assignment takes for it.

    Times are read once and kept. `vitcheck grade` then shows them in reports and tables. No points are taken
    but with --apply, which writes an adjustment with its reason for each that is late; what was adjusted
    before by other points stays as it is, and is named.
    """
    from vitcheck.checks.classes.handing_in import LatenessOf
    from vitcheck.gradebook_entries import some
    from vitcheck.reports.words.text import NAME_LIMIT, one_line

    asked = load(assignment)
    if asked.late is None:
        raise click.UsageError(
            f"{asked.known_as} has no table [late], such as: due = 2026-11-20T23:59:00+01:00"
        )
    with open_or_refuse(gradebook or str(grades / "gradebook.sqlite")) as book:
        entries = some(book, asked.name)
        names = names_in(pseudonyms) if pseudonyms else {}
        called = {real(names, one.attempt.submission): one.attempt.submission for one in entries}
        _read_times(book, asked.name, asked.late, called, times, git)
        lateness = LatenessOf(book, asked.name, asked.late)
        for entry in entries:
            found = lateness.of(entry.attempt.submission, entry.adjustment)
            if found is None:
                click.echo(f"{one_line(entry.attempt.submission, NAME_LIMIT)}: no time is known", err=True)
                continue
            click.echo(_line(entry, found))
            if apply and found.minutes:
                _apply(book, entry, found)


def _read_times(
    book: Gradebook,
    assignment: str,
    policy: LatePolicy,
    names: Mapping[str, str],
    times: Path | None,
    git: Path | None,
) -> None:
    """Keep what is read of ``names``, which are mapped to what submissions are called here."""
    import psutil

    from vitcheck.reports.formats.hand_in_times import hand_in_times
    from vitcheck.reports.formats.rosters import RosterError

    who = psutil.Process().username()
    if times:
        with refusing(RosterError):
            found = hand_in_times(times.read_bytes(), names, policy.due.tzinfo)
        book.set_times(assignment, {names[one]: when for one, when in found.items()}, times.name, who)
    if git:
        commits = {names[one]: when for one, when in _of_repositories(git, names).items()}
        book.set_times(assignment, commits, f"git in {git.name}", who)


def _of_repositories(folder: Path, names: Iterable[str]) -> Mapping[str, datetime]:
    """The time of the last commit, which is what the machine said that made it."""
    found = {}
    for name in names:
        if (folder / name / ".git").exists() and (seconds := _last_commit(folder / name)) is not None:
            found[name] = datetime.fromtimestamp(seconds, timezone.utc)
    return found


def _last_commit(repository: Path) -> int | None:
    """Ask git, which is told to fetch nothing and to start nothing that the repository names."""
    command = ["git", "-C", str(repository), "-c", "protocol.allow=never", "-c", "core.fsmonitor=false"]
    command += ["rev-list", "--max-count=1", "--timestamp", "HEAD"]
    try:
        told = subprocess.run(
            command, env=os.environ | _GIT, capture_output=True, text=True, timeout=_GIT_SECONDS, check=True
        ).stdout
        return int(told.split()[0])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def _line(entry: Entry, late: Lateness) -> str:
    from vitcheck.reports.words.lateness import lateness_text
    from vitcheck.reports.words.text import NAME_LIMIT, one_line

    attempt = entry.attempt
    return (
        f"{one_line(attempt.submission, NAME_LIMIT)}: {lateness_text(late, attempt.possible, attempt.earned)}"
    )


def _apply(book: Gradebook, entry: Entry, late: Lateness) -> None:
    """Once: what was taken for the same lateness is not taken again."""
    import psutil

    from vitcheck.reports.words.lateness import why_taken
    from vitcheck.reports.words.text import NAME_LIMIT, one_line

    attempt, before = entry.attempt, entry.adjustment
    why = why_taken(late)
    if before.delta or before.override is not None:
        if before.comment != why:
            name = one_line(attempt.submission, NAME_LIMIT)
            click.echo(f"{name} is adjusted already, and stays so: vitcheck gradebook adjust", err=True)
        return
    taken = late.points(attempt.possible, attempt.earned)
    changes = {"delta": -taken, "comment": why if taken else before.comment, "late_days": late.free_days}
    book.adjust(attempt.run.assignment, attempt.submission, psutil.Process().username(), **changes)
