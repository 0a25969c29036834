"""One class or function by itself, asked about one stage: which component it may be. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence

from ...reference.components import COMPONENTS, Component
from ...reference.stages import STAGES, stage
from ..assignment.asked_parts import AskedPart, Components
from ..assignment.asked_points import Points
from ..assignment.assignment import Assignment
from ..record.result import Evidence, Note, Result, StageStatus

_POINTS = 100.0


def asked_alone(base: Assignment, key: str, name: str) -> list[Assignment]:
    """Return an assignment for each component that computes the stage ``key``, the smallest component first.

    What is called in a way of its own, such as one attention head, comes behind all others.
    Each asks for the class or function ``name`` alone, and accepts what ``base`` does. Raises ValueError for
    a stage that is no component's.
    """
    having = [one for one in COMPONENTS.values() if key in one.stages]
    if not having:
        raise ValueError(
            f"{stage(key).label} ({key}) is not computed by a single part: check the whole model, or ask for"
            f" one of {', '.join(_askable())}"
        )
    having = sorted(having, key=lambda one: (one.is_of_one_head or one.inputs > 1, len(one.stages)))
    return [alone(base, one, name) for one in having]


def alone(base: Assignment, component: Component, name: str) -> Assignment:
    """Return an assignment that asks for the class or function ``name`` alone, as this component."""
    return asking_for(base, {component.key: AskedPart(points=_POINTS, name=name)})


def asking_for(base: Assignment, components: Components) -> Assignment:
    """Return the assignment without its model and its exercises, and with these components alone."""
    nothing_else = {"architectures": (), "points": Points(), "exercises": {}}
    return base.model_copy(update={**nothing_else, "components": components})


def _askable() -> list[str]:
    having = {key for one in COMPONENTS.values() for key in one.stages}
    return [one.label for one in STAGES if one.key in having]


def likeliest(results: Sequence[Result]) -> Result:
    """Return the one as which it earns most, and of these the one in which most stages are right."""
    return max(results, key=_likeness)


def is_part(result: Result) -> bool:
    """Does it do what the component does that it was graded as: were most of its stages found in it?"""
    return resemblance(result) > 0.5


def computes(result: Result, key: str) -> bool:
    """Was the stage ``key`` found in it, right or wrong?"""
    return any(one.key == key and one.evidence is not Evidence.ABSENT for one in result.stages.values())


def resemblance(result: Result) -> float:
    """Of the stages that were asked for, the share that was found, right or wrong."""
    asked = [one for one in result.stages.values() if one.status is not StageStatus.NOT_APPLICABLE]
    found = sum(one.evidence is not Evidence.ABSENT for one in asked)
    return found / len(asked) if asked else 0.0


def is_no_model(result: Result) -> bool:
    """Was it graded as a whole model, and nothing of one found in it?"""
    located = (StageStatus.PASSED, StageStatus.FAILED)
    found = [
        one for one in result.stages.values() if one.status in located and one.evidence is not Evidence.ABSENT
    ]
    return len(found) <= 1  # which is the image


def told_as_part(result: Result, component: Component) -> Result:
    """The same, and what it looks like."""
    labels = [stage(key).label for key in component.stages]
    ends = labels[0] if len(labels) == 1 else f"{labels[0]} to {labels[-1]}"
    text = f"This looks like a part, and was graded as one: {component.title} ({ends})."
    return result.model_copy(update={"notes": [Note(kind="part", text=text), *result.notes]})


def _likeness(result: Result) -> tuple[float, float]:
    asked = [one for one in result.stages.values() if one.status is not StageStatus.NOT_APPLICABLE]
    right = sum(one.status is StageStatus.PASSED for one in asked)
    return result.score.earned, right / len(asked) if asked else 0.0
