"""A record with the points that an assignment gives for it. Imports no torch.

What is graded is kept as it ended: points, titles and what students may see are put on it afterwards, and can
be put on it anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..assignment.assignment import Assignment
from ..record.faults import wrong_together
from ..record.result import CheckResult, Note, Proof, Result, Score, Status, VariantResult
from ..record.written_result import WrittenResult
from .adding_up import Settled, added_up, as_passed
from .by_group import points_of_groups
from .by_mistake import faults, points_of_mistakes
from .by_part import points_of_parts, points_of_stages
from .forgiving import as_ended, forgiven, unearned

# what an assignment says that no verdict hangs on
_UNJUDGED: Mapping[str, Any] = {
    "title": True,
    "points": True,
    "visibility": True,
    "hints": True,
    "for_students": True,
    "late": True,
    "variants": {"by_id": {"__all__": {"reason"}}},
    "components": {"__all__": {"points"}},
    "exercises": {"__all__": {"points"}},
    "written": {"questions": {"__all__": {"points", "rubric"}}},
}


def judging_digest(assignment: Assignment) -> str:
    """The same for assignments under which every submission's checks end the same."""
    only_own = assignment.points.own == assignment.points.possible  # then the model is not looked at
    judged = [assignment.model_dump_json(exclude=dict(_UNJUDGED)), only_own, bool(assignment.points.written)]
    return hashlib.sha256(repr(judged).encode()).hexdigest()


def scored(result: Result, assignment: Assignment) -> Result:
    """Return the record with this assignment's points, titles and visibility, whatever it had before.

    The assignment has to judge as the one by which it was graded (``judging_digest``).
    """
    ended = [_seen(as_ended(one), assignment) for one in result.checks]
    settled = _settled(assignment, ended)
    checks = added_up(ended, partial(_settled, assignment), settled)
    notes = [*unearned(settled.points, settled.checks), *_taken(assignment, settled.checks, settled.points)]
    return result.model_copy(
        update={
            "asked": assignment.asked,
            "score": _score(checks, assignment, result.status),
            "checks": checks,
            "proof": result.proof and _with_points(result.proof, result, assignment),
            "variants": [_allowed(one, assignment) for one in result.variants],
            "notes": [*notes, *(one for one in result.notes if one.kind not in ("unearned", "taken"))],
            "written": result.written and _asked(result.written, assignment),
        }
    )


def _with_points(proof: Proof, result: Result, assignment: Assignment) -> Proof:
    """What is earned where the checks of the first mistake pass: at least so much, once it is fixed."""
    first = next((one for one in wrong_together(result) if proof.cured[0] in one), proof.cured[:1])
    ids = {id for label in first if label in result.stages for id in result.stages[label].mistakes}
    checks = [as_passed(one) if one.stage in first or ids & {*one.mistakes} else one for one in result.checks]
    fixed = scored(result.model_copy(update={"checks": checks, "proof": None}), assignment)
    return proof.model_copy(update={"points": fixed.score.earned})


def points_of(assignment: Assignment, checks: Sequence[CheckResult]) -> dict[str, float]:
    """Return what each check of a submission is worth, by its id, in the order of the checks."""
    asked, family = assignment.points, assignment.family
    worth = points_of_groups(assignment, [one.id for one in checks])
    for of_model in (
        points_of_parts(asked.parts, checks, family),
        points_of_stages(asked.stages, checks),
        points_of_mistakes(asked, checks, family),
    ):
        worth = {id: amount + of_model.get(id, 0.0) for id, amount in worth.items()}
    return worth


def _seen(check: CheckResult, assignment: Assignment) -> CheckResult:
    return check.model_copy(update={"visibility": assignment.visibility_of(check.id)})


def _settled(assignment: Assignment, ended: Sequence[CheckResult]) -> Settled:
    points = {id: one * assignment.scale for id, one in points_of(assignment, ended).items()}
    return Settled(forgiven(points, ended), points)


def _score(checks: Sequence[CheckResult], assignment: Assignment, status: Status) -> Score:
    """The sums. Those that a person gives are yet to come."""
    possible = sum(one.points for one in checks) + assignment.possible_elsewhere
    whole = possible if status is Status.GRADED else assignment.possible
    return Score(earned=round(sum(one.earned for one in checks), 2), possible=round(whole, 2))


def _taken(
    assignment: Assignment, checks: Sequence[CheckResult], points: Mapping[str, float]
) -> Sequence[Note]:
    """What each mistake takes, where mistakes do."""
    if assignment.points.mistakes is None:
        return []
    where = {one.id: one.stage or f"the check {one.id}" for one in checks}
    return [
        Note(
            kind="taken",
            text=f"A {one.severity} mistake ({where[one.check]}): {points[one.check]:.2f} points.",
        )
        for one in faults(assignment.points, checks, assignment.family)
    ]


def _allowed(variant: VariantResult, assignment: Assignment) -> VariantResult:
    return variant.model_copy(update={"reason": assignment.allows(variant.id)[1]})


def _asked(written: WrittenResult, assignment: Assignment) -> WrittenResult:
    """Its questions as the assignment words them now."""
    questions = assignment.written.questions if assignment.written else {}
    answers = [
        one.model_copy(update={"points": questions[one.id].points, "rubric": questions[one.id].rubric})
        if one.id in questions
        else one
        for one in written.answers
    ]
    return written.model_copy(update={"answers": answers})
