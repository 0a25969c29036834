"""What would change if a class were graded anew: found before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..assignment.assignment import Assignment
from ..points.scoring import scored
from ..record.grade import decided, grade
from ..record.result import CheckResult, Result
from .engines import Done, Engine
from .gradebook.store import Gradebook
from .gradebook.work import Entry, Work
from .tasks import Task


@dataclass(frozen=True)
class Change:
    """A submission as it stands, and as it would: ``before`` is None for one that is new."""

    submission: str
    before: Result | None
    after: Result

    @property
    def changes(self) -> bool:
        """Would its grade or a check of it be another?"""
        return self.before is None or grade(self.before) != grade(self.after) or bool(self.checks())

    def checks(self) -> list[tuple[CheckResult, CheckResult]]:
        """Those that end or cost otherwise, as they are and would be, what changes most first."""
        old = {one.id: one for one in self.before.checks} if self.before else {}
        found = [(old[one.id], one) for one in self.after.checks if one.id in old]
        other = [(one, now) for one, now in found if one.outcome is not now.outcome or _change(one, now)]
        return sorted(other, key=lambda pair: -abs(_change(*pair)))


def _change(before: CheckResult, after: CheckResult) -> float:
    """How much more it costs."""
    return round(lost(after) - lost(before), 2)


def lost(check: CheckResult) -> float:
    """The points that are lost with it."""
    return round(check.points - check.earned, 2)


def changes(
    work: Work, assignment: Assignment, gradebook: Gradebook, fresh: Mapping[str, Result]
) -> Iterator[Change]:
    """Yield each submission of ``work``: ``fresh`` ones as graded, others with the points of today."""
    entries = {one.attempt.submission: one for one in gradebook.entries(work.assignment)}
    taken = gradebook.finished(work)
    for name in work.contents:
        entry = entries.get(name)
        if name in fresh:
            after = fresh[name]
        elif name in taken:
            after = scored(gradebook.result(taken[name]), assignment)
        else:
            continue
        before = None if entry is None else _standing(gradebook.result(entry.attempt.id), entry)
        yield Change(name, before, after if entry is None else _standing(after, entry))


def _standing(result: Result, entry: Entry) -> Result:
    return decided(result, entry.adjustment)


def kept_work(work: Work, gradebook: Gradebook) -> Work:
    """The same of what is in the gradebook, whatever lies on disk; ``work`` has no contents."""
    entries = gradebook.entries(work.assignment)
    contents = {one.attempt.submission: one.attempt.content_digest for one in entries}
    return replace(work, contents=contents)


def seed_of(gradebook: Gradebook, assignment: str) -> int:
    """The seed that the class was last graded with; 0 for one that never was."""
    runs = {one.attempt.run_id: one.attempt.run.seed for one in gradebook.entries(assignment)}
    return runs[max(runs)] if runs else 0


def graded_anew(tasks: Iterable[Task], engine: Engine) -> dict[str, Result]:
    """Grade them, by name, and write nothing.

    One on which the grader itself failed says so in its reason. Raises EngineError.
    """
    with engine:
        done = [event for event in engine.run(tasks) if isinstance(event, Done)]
    return {one.task.name: one.result or one.task.lost() for one in done}
