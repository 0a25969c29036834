"""The submissions of a gradebook that a command is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from vitcheck.options import did_you_mean

if TYPE_CHECKING:
    from vitcheck.checks.classes.gradebook.store import Gradebook
    from vitcheck.checks.classes.gradebook.work import Entry
    from vitcheck.checks.record.result import Result


def standing_result(book: Gradebook, entry: Entry) -> Result:
    """The record of its last attempt, with what was decided, and how late it is."""
    from vitcheck.checks.classes.handing_in import LatenessOf
    from vitcheck.checks.record.grade import decided

    attempt = entry.attempt
    late = LatenessOf.as_graded(book, attempt.run.assignment).of(attempt.submission, entry.adjustment)
    result = book.result(attempt.id).model_copy(update={"lateness": late})
    return decided(result, entry.adjustment, outdated=entry.outdated)


def some(book: Gradebook, assignment: str | None) -> list[Entry]:
    """All of them, at least one."""
    entries = book.entries(assignment)
    if not entries:
        raise click.UsageError(f"{book.place} has no submission{f' of {assignment}' if assignment else ''}")
    return entries


def all_of_one(book: Gradebook, assignment: str | None) -> list[Entry]:
    """Those of a single assignment, at least one."""
    entries = some(book, assignment)
    names = sorted({one.attempt.run.assignment for one in entries})
    if len(names) > 1:
        raise click.UsageError(
            f"the gradebook has several assignments: add --assignment {' or '.join(names)}"
        )
    return entries


def one_called(entries: Sequence[Entry], name: str) -> Entry:
    """The only one of that name."""
    found = [one for one in entries if one.attempt.submission == name]
    if not found:
        near = did_you_mean(name, [one.attempt.submission for one in entries])
        raise click.BadParameter(f"there is no submission {name}{near}", param_hint="NAME")
    if len(found) > 1:
        several = ", ".join(one.attempt.run.assignment for one in found)
        raise click.UsageError(f"{name} is in several assignments ({several}): name one with --assignment")
    return found[0]
