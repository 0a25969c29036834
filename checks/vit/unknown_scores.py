"""What is returned as class scores or probabilities, and that no known equation gives."""

from __future__ import annotations

from torch import Tensor

from ..locating.context import Context, Predict
from ..locating.forms import CLASS_PROBABILITIES, LOGITS, Form
from ..locating.search.returned_scores import candidates, outputs_of, stand_ins
from ..locating.walk import Walk


def form_of_scores(walk: Walk, plain: Tensor) -> tuple[Form, ...]:
    """The form in which the head's scores are returned, where the first of what may be scores tells it.

    That is the plain one, or whichever something is in that is called logits; () where it is not told.
    """
    found = candidates(outputs_of(walk.trace), plain.shape)[:1]
    forms = LOGITS if found and found[0].is_called_logits else LOGITS[:1]
    return tuple(form for one in found for form in forms if one.is_one_of([form.function(plain)]))[:1]


def unexplained_scores(walk: Walk, tensor: Tensor) -> Predict | None:
    """What is returned as the scores, where it is neither the logits nor a known function of them."""
    known = [tensor, *(form.function(tensor) for form in CLASS_PROBABILITIES)]
    found = stand_ins(outputs_of(walk.trace), tensor.shape)
    if not found or any(one.is_one_of(known) for one in found):
        return None
    return returned_as(found[0].path)


def unexplained_probabilities(walk: Walk, tensor: Tensor, known: list[Tensor]) -> Predict | None:
    """What is returned as probabilities, where it is neither ``known`` nor a known function of the logits."""
    known = [*known, *(form.function(tensor) for form in CLASS_PROBABILITIES)]
    named = [one for one in candidates(outputs_of(walk.trace), tensor.shape) if one.is_called_probabilities]
    odd = next((one for one in named if not one.is_one_of(known)), None)
    return None if odd is None else returned_as(odd.path)


def returned_as(path: str) -> Predict:
    """What is returned there, in the layout of scores if it can be read so."""

    def predict(context: Context) -> Tensor:
        output = {one.path: one for one in outputs_of(context.trace)}[path]
        return next(output.readings(context.sizes.output_shape), output.tensor)

    return predict
