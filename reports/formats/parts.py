"""The parts of a result that have points of their own elsewhere: they add up to what its checks earned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...checks.record.for_students import for_students
from ...checks.record.result import CheckResult, Result, Visibility
from ..words.standing import Standing, findings
from ..words.text import NAME_LIMIT, one_line
from ..words.wording import say


@dataclass(frozen=True)
class Part:
    """The checks of a stage, a component, an exercise or the whole model that are shown at one time.

    ``told`` is the record that students have by then, and ``fault`` what is wrong with the part, if that
    stands here: in the first part in which all of it may be told.
    """

    id: str
    title: str
    visibility: Visibility
    checks: tuple[CheckResult, ...]
    told: Result
    fault: Standing | None

    @property
    def name(self) -> str:
        """No two parts of a result have the same; it says what is wrong."""
        when = "" if self.visibility is Visibility.VISIBLE else say(f"part.{self.visibility.value}")
        fault = f": {self.fault.claim}" if self.fault else ""
        return one_line(f"{f'{self.id} {self.title}'.strip()}{when}{fault}", NAME_LIMIT)

    @property
    def earned(self) -> float:
        return round(sum(one.earned for one in self.checks), 2)

    @property
    def points(self) -> float:
        return round(sum(one.points for one in self.checks), 2)

    @property
    def wrong(self) -> Sequence[CheckResult]:
        """The checks that lost points."""
        return [one for one in self.checks if one.costs]


def parts(result: Result) -> list[Part]:
    """All that have points: stages first, and those of one by when they are shown."""
    found = [one for until in Visibility for one in _shown_at(result, until)]
    told: set[str] = set()
    for number, one in enumerate(found):
        if one.fault and one.id in told:
            found[number] = Part(one.id, one.title, one.visibility, one.checks, one.told, None)
        told |= {one.id} if one.fault else set()
    return sorted(found, key=lambda one: (one.id not in result.stages, one.id))


def _shown_at(result: Result, until: Visibility) -> Iterator[Part]:
    told = for_students(result, until)
    shown = [one for one in told.checks if one.visibility is until and (one.points or one.earned)]
    shown.sort(key=lambda one: one.part)
    faults = {one.label: one for one in findings(told) if one.label}
    for id, checks in groupby(shown, key=lambda one: one.part):
        stage = result.stages.get(id)
        title = one_line(stage.title) if stage else ""
        yield Part(id, title, until, tuple(checks), told, faults.get(id))
