"""Stages beside the answer earn nothing: what is returned is not made from them."""

from __future__ import annotations

from torch import Tensor

from ...locating.context import Context, Predict
from ...locating.search.returned_scores import outputs_of, stand_ins
from ...locating.steps import Step
from ...locating.walk import Walk
from ..passes.editing import without_branches
from ..passes.examples import Examples
from ..verdicts import CheckFailed, NotApplicable, NotReached

MESSAGE = "Your code computes this stage, but what the model returns is not made from it."

_LAST = ("last_block_output", "final_sequence", "class_representation")
# Of how far the right scores move when the blocks do nothing: what is made of them in any way moves
# about as far, each relative to its own size, and a trace of them in something else does not.
_SHARE = 0.01


def stages_beside(examples: Examples) -> frozenset[str]:
    """The keys of stages that were located, and that the scores are not made from.

    It is only asked where no known equation gives the scores: then they are another network's, or there is a
    mistake behind the right stages, which costs no more than that.
    """
    walk = examples.walk
    odd = next((step for step in walk.steps if step.key == "logits" and not step.explained), None)
    if odd is None:
        return frozenset()
    made = _made_from(walk)
    moves = _moves(examples, odd)
    if moves or (moves is None and made is None):
        return frozenset()
    beside = (step.key for step in walk.steps if made is None or not _is_in(step, made))
    return frozenset(beside) - {"logits"}


def _made_from(walk: Walk) -> frozenset[int] | None:
    """The records that the scores are made from; None where the last stages are among them, or unknown."""
    scores = stand_ins(outputs_of(walk.trace), walk.sizes.output_shape)
    last = [step for step in walk.steps if step.key in _LAST and step.found is not None]
    if not scores or not last:
        return None
    made = walk.trace.ancestors(dict(walk.trace.outputs)[scores[0].path])
    return None if any(_is_in(step, made) for step in last) else made


def _is_in(step: Step, records: frozenset[int]) -> bool:
    return step.found is None or any(place.record in records for place in step.found.places)


def _moves(examples: Examples, odd: Step) -> bool | None:
    """Do the scores move where those that follow from the stages do? None where that cannot be asked."""
    try:
        after = examples.again(fixed=without_branches(examples.examples[0]))
    except (NotApplicable, NotReached, CheckFailed):
        return None
    before = examples.before()
    return _moved(odd.predict, before, after) >= _SHARE * _moved(odd.right, before, after)


def _moved(predict: Predict, before: Context, after: Context) -> float:
    """How far, of its largest number."""
    first, second = predict(before), predict(after)
    return _largest(second - first) / (_largest(first) or 1.0)


def _largest(tensor: Tensor) -> float:
    return float(tensor.abs().max())
