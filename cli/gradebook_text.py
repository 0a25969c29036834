"""What a gradebook holds, as lines for a terminal and as rows for other programs."""

from __future__ import annotations

from vitcheck.checks.classes.gradebook.store import Event
from vitcheck.checks.classes.gradebook.tables import Attempt, Decision, HandInTime, Release
from vitcheck.checks.classes.gradebook.work import Entry
from vitcheck.checks.classes.regrading import Change, lost
from vitcheck.checks.record.grade import grade
from vitcheck.checks.record.result import CheckResult
from vitcheck.reports.words.alike import spelled_out
from vitcheck.reports.words.remarks import released, remark
from vitcheck.reports.words.text import NAME_LIMIT, one_line, points
from vitcheck.reports.words.wording import say

_MOST = 5  # checks in a line
_OUTDATED = " (of another version of the file: confirm or adjust it)"


def entry_line(entry: Entry, *, spelled: bool = False) -> str:
    """The points that count, and what was decided; a name that looks like another one is ``spelled`` out."""
    score = f"{points(entry.total):>6} of {points(entry.attempt.possible)}"
    called = entry.attempt.submission
    name = one_line(spelled_out(called) if spelled else called, NAME_LIMIT)
    about = f"{remark(entry.adjustment)}{_OUTDATED if entry.outdated else ''}"
    return "  ".join(filter(None, [score, name, _not_graded(entry.attempt), about]))


def change_line(change: Change) -> str:
    """From what to what, and by which checks."""
    before = points(grade(change.before).earned) if change.before else "new"
    name, after = one_line(change.submission, NAME_LIMIT), points(grade(change.after).earned)
    checks = [_check_change(*pair) for pair in change.checks()] if change.before else []
    more = f" and {len(checks) - _MOST} more" if len(checks) > _MOST else ""
    why = f"  {', '.join(checks[:_MOST])}{more}" if checks else ""
    return f"{before:>6} → {after:<6}  {name}{why}"


def _check_change(before: CheckResult, after: CheckResult) -> str:
    """Such as "equation[S12] failed → passed", or with what it costs where it ends as it did."""
    if before.outcome is after.outcome:
        return f"{one_line(after.id)} takes {points(lost(before))} → {points(lost(after))}"
    return f"{one_line(after.id)} {before.outcome.value} → {after.outcome.value}"


def event_line(event: Event) -> str:
    """When it was, and what; times are local."""
    when = event.at.astimezone().isoformat(" ", "seconds")
    if isinstance(event, Decision):
        return f"{when}  {remark(event.adjustment) or 'nothing adjusted'}, said {one_line(event.who)}"
    if isinstance(event, HandInTime):
        submitted = event.submitted.astimezone().isoformat(" ", "seconds")
        return f"{when}  handed in {submitted}, by {one_line(event.source)}, said {one_line(event.who)}"
    if isinstance(event, Release):
        return f"{when}  {released(event.up_to)}, said {one_line(event.who)}"
    score = f"{points(event.earned)} of {points(event.possible)}"
    how = f"(seed {event.run.seed}, vitcheck {event.run.version})"
    return "  ".join(filter(None, [when, score, _not_graded(event), how]))


def entry_row(entry: Entry) -> dict[str, str | float]:
    """Everything but the record itself."""
    attempt, adjustment = entry.attempt, entry.adjustment
    return {
        "assignment": attempt.run.assignment,
        "submission": attempt.submission,
        "status": attempt.status,
        "earned": attempt.earned,
        "possible": attempt.possible,
        "score": entry.total,
        "comment": adjustment.comment,
        "extra_hours": adjustment.extra_hours,
        "late_days": adjustment.late_days,
        "outdated": int(entry.outdated),
        "marks": " ".join(f"{id}={points(mark)}" for id, mark in sorted(adjustment.marks.items())),
        "graded": attempt.at.isoformat(timespec="seconds"),
        "seed": attempt.run.seed,
        "version": attempt.run.version,
    }


def _not_graded(attempt: Attempt) -> str:
    """Why not, in a word or two."""
    return "" if attempt.status == "graded" else say(f"status.{attempt.status}")
