"""Points by mistakes: a right model has them all, and each mistake takes some. Imports no torch.

What was not reached or is not written yet shows nothing: each such stage takes its share of the whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ..architecture.catalogue import Mistake, Severity
from ..architecture.family import Family
from ..assignment.asked_points import MistakePoints, Points
from ..assignment.kinds import Kind, kind_of, kinds
from ..record.result import CheckResult, Outcome
from .bearers import bearers

_UNSEEN = (Outcome.NOT_REACHED, Outcome.ERRORED, Outcome.TIMED_OUT, Outcome.SKIPPED)
_WRONG = (Outcome.FAILED, Outcome.MISSING)
_NOT_RIGHT = (*_WRONG, Outcome.ERRORED, Outcome.TIMED_OUT)  # a stage that was not looked at is unseen instead


@dataclass(frozen=True)
class Fault:
    """One mistake, named or not, at the first check that shows it."""

    check: str
    severity: Severity


def points_of_mistakes(points: Points, checks: Sequence[CheckResult], family: Family) -> dict[str, float]:
    """What a mistake takes stands at the first check that shows it; stages that are right share the rest."""
    asked, stages = points.mistakes, bearers(checks).values()
    if asked is None or not stages:
        return {}
    worth = {one.id: asked.of / len(stages) for one in stages if one.outcome in _UNSEEN}
    left = asked.of - sum(worth.values())
    found = [(one.check, asked.cost(one.severity)) for one in faults(points, checks, family)]
    taken = sum(cost for _, cost in found)
    most = min(taken, left, max(_limit(asked), asked.of * _wrong_share(stages)))
    for id, cost in found:
        worth[id] = worth.get(id, 0.0) + (cost * most / taken if taken else 0.0)
    heirs = [one.id for one in stages if one.outcome is Outcome.PASSED] or [one.id for one in stages]
    return worth | {id: worth.get(id, 0.0) + (left - most) / len(heirs) for id in heirs}


def _limit(asked: MistakePoints) -> float:
    return asked.of if asked.at_most is None else asked.at_most


def _wrong_share(stages: Collection[CheckResult]) -> float:
    """What is wrong nearly everywhere is not saved by a limit to what mistakes take."""
    return sum(one.outcome in _WRONG for one in stages) / len(stages)


def faults(points: Points, checks: Sequence[CheckResult], family: Family) -> Iterator[Fault]:
    """Yield what went wrong, each once, in the order of the checks.

    What has points of its own under [points] is left out. So is, of what checks of the whole model show, all
    that may follow from something else that is wrong.
    """
    told: set[str | None] = set()
    failed = [(kind, check, _known(check, family)) for kind, check in _failed(points, checks)]
    first = min((_follows(kind, known) for kind, _, known in failed), default=0)
    for kind, check, known in failed:
        if kind.finished and _follows(kind, known) > first:
            continue
        key = known.id if known else _place(kind, check)
        severity = known.severity if known else kind.severity
        alike = {key} if kind.judges_stage else {key, *check.mistakes}  # that it cannot tell from each other
        if told.isdisjoint(alike) and severity is not None:
            told |= {key, *(known.brings if known else ())}
            yield Fault(check.id, severity)


def _failed(points: Points, checks: Sequence[CheckResult]) -> Iterator[tuple[Kind, CheckResult]]:
    for check in checks:
        kind = kinds().get(kind_of(check.id))
        if kind is None or kind.severity is None or points.of(kind.group):
            continue
        ended = _WRONG if kind.judges_stage else _NOT_RIGHT
        if check.outcome in ended:
            yield kind, check


def _known(check: CheckResult, family: Family) -> Mistake | None:
    return next((family.mistakes[id] for id in check.mistakes if id in family.mistakes), None)


def _follows(kind: Kind, known: Mistake | None) -> int:
    """From how much else it may follow: nothing, what is known to be a cause, or whatever is known."""
    if kind.judges_stage or not kind.finished:
        return 0 if kind.judges_stage else 2
    return 2 if known is None else int(known.may_follow)


def _place(kind: Kind, check: CheckResult) -> str | None:
    """What is one fault, whatever checks show it: a stage, all marks, what is wrong of the whole model."""
    if kind.judges_stage:
        return check.stage
    return "model" if kind.finished else kind.id
