"""Stages beside the answer earn nothing: what is returned is not made from them."""

from __future__ import annotations

from .example import Example
from .locating.walk import Step, Walk
from .scores import outputs_of, stand_ins
from .verdicts import CheckFailed

_LAST = ("last_block_output", "final_sequence", "class_representation")


def demand_on_the_way(example: Example, key: str) -> None:
    """Raises CheckFailed for a stage that what the model returns is not made from.

    It is only asked where the scores are no known function of the last stages, nor made from them in any
    other way: a mistake behind the right stages costs what it is a mistake in.
    """
    made = _made_from(example.walk)
    if made is None:
        return
    found = [step for step in example.walk.steps if step.key == key and step.found is not None]
    if found and not any(_is_in(step, made) for step in found):
        text = "It is computed beside what the model returns, which is not made from it."
        raise CheckFailed(text, (), example.draw)


def _made_from(walk: Walk) -> frozenset[int] | None:
    """The records that the scores are made from; None where they are those that were located."""
    scores = stand_ins(outputs_of(walk.trace), walk.sizes.output_shape)
    odd = [step for step in walk.steps if step.key == "logits" and not step.explained]
    if not scores or not odd:
        return None
    made = walk.trace.ancestors(dict(walk.trace.outputs)[scores[0].path])
    last = [step for step in walk.steps if step.key in _LAST and step.found is not None]
    return None if not last or any(_is_in(step, made) for step in last) else made


def _is_in(step: Step, records: frozenset[int]) -> bool:
    return step.found is not None and any(place.record in records for place in step.found.places)
