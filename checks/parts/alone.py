"""One class or function by itself, asked about one stage: which component it may be. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence

from ...reference.components import COMPONENTS
from ...reference.stages import STAGES, stage
from ..assignment.asked_parts import AskedPart
from ..assignment.asked_points import Points
from ..assignment.assignment import Assignment
from ..record.result import Result, StageStatus

_POINTS = 100.0


def asked_alone(base: Assignment, key: str, name: str) -> list[Assignment]:
    """Return an assignment for each component that computes the stage ``key``, the smallest component first.

    Each asks for the class or function ``name`` alone, and accepts what ``base`` does. Raises ValueError for
    a stage that is no component's.
    """
    having = [one for one in COMPONENTS.values() if key in one.stages]
    if not having:
        raise ValueError(
            f"{stage(key).label} ({key}) is not computed by a part alone: check the whole model, or ask for"
            f" one of {', '.join(_askable())}"
        )
    return [
        base.model_copy(
            update={
                "architectures": (),
                "points": Points(),
                "components": {one.key: AskedPart(points=_POINTS, name=name)},
                "exercises": {},
            }
        )
        for one in sorted(having, key=lambda one: len(one.stages))
    ]


def _askable() -> list[str]:
    having = {key for one in COMPONENTS.values() for key in one.stages}
    return [one.label for one in STAGES if one.key in having]


def likeliest(results: Sequence[Result]) -> Result:
    """Return the one as which it earns most, and of these the one in which most stages are right."""
    return max(results, key=_likeness)


def _likeness(result: Result) -> tuple[float, float]:
    asked = [one for one in result.stages.values() if one.status is not StageStatus.NOT_APPLICABLE]
    right = sum(one.status is StageStatus.PASSED for one in asked)
    return result.score.earned, right / len(asked) if asked else 0.0
