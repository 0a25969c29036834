"""What each known mistake costs under an assignment, told from the reference with it planted in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....reference.components import COMPONENTS
from ...architecture.catalogue import Mistake, mistakes
from ...assignment.assignment import Assignment
from ...record.result import CheckResult, Outcome, Result, Status
from .validation import Fate, MistakeFate

_MISSED = (Outcome.FAILED, Outcome.ERRORED, Outcome.TIMED_OUT, Outcome.NOT_REACHED, Outcome.MISSING)


def fates(
    assignment: Assignment, reference: Result | None, planted: Mapping[str, Result]
) -> list[MistakeFate]:
    """Judge every mistake that can be made in what the assignment asks for.

    ``reference`` is the result without a mistake, ``planted`` those with one, by its id.
    """
    concerned = [one for one in mistakes().values() if _concerns(assignment, one)]
    return [
        _tried(assignment, one, reference, planted[one.id])
        if reference is not None and one.id in planted
        else _untried(assignment, one)
        for one in concerned
    ]


def missed(result: Result) -> Iterator[CheckResult]:
    """The checks that earned nothing, although they were asked."""
    return (one for one in result.checks if one.outcome in _MISSED)


def _concerns(assignment: Assignment, one: Mistake) -> bool:
    if one.stage == "exercise":
        return bool(assignment.exercises)
    in_parts = any(one.stage in COMPONENTS[key].stages for key in assignment.components)
    return (bool(assignment.architectures) and assignment.asks(one.stage)) or in_parts


def _tried(assignment: Assignment, one: Mistake, reference: Result, result: Result) -> MistakeFate:
    if result.status is not Status.GRADED:
        return MistakeFate(id=one.id, stage=one.stage, fate=Fate.CAUGHT, points=reference.score.earned)
    before = {check.id for check in missed(reference)}
    new = [check for check in missed(result) if check.id not in before]
    paid = [check for check in new if check.points]
    allowed, reason = assignment.allows(one.id)
    if paid:
        points = round(sum(check.points for check in paid), 2)
        why = f"allowed, and yet {_ids(paid)} fails" if allowed else ""
        return MistakeFate(id=one.id, stage=one.stage, fate=Fate.CAUGHT, points=points, why=why)
    if allowed:
        return MistakeFate(id=one.id, stage=one.stage, fate=Fate.ALLOWED, why=reason or "")
    if new:
        why = f"{_ids(new)} fails for 0 points"
        return MistakeFate(id=one.id, stage=one.stage, fate=Fate.WORTHLESS, why=why)
    return MistakeFate(id=one.id, stage=one.stage, fate=Fate.UNSEEN, why="no check fails")


def _untried(assignment: Assignment, one: Mistake) -> MistakeFate:
    allowed, reason = assignment.allows(one.id)
    fate = Fate.ALLOWED if allowed else Fate.UNTRIED
    return MistakeFate(id=one.id, stage=one.stage, fate=fate, why=reason or "")


def _ids(checks: list[CheckResult]) -> str:
    """Of those that were reached: what follows on them says nothing more."""
    return ", ".join(check.id for check in checks if check.outcome is not Outcome.NOT_REACHED)
