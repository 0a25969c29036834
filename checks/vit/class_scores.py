"""S25 and S26: the logits and probabilities, by what the model returns."""

from __future__ import annotations

import torch
from torch import Tensor

from ...reference import equations as eq
from ...submissions.host.trace import Reference
from ..locating.comparing import equal
from ..locating.context import Predict
from ..locating.forms import CLASS_PROBABILITIES, LOGITS, Form
from ..locating.search.returned_scores import Output
from ..locating.walk import Walk, combine, stage_of
from ..locating.wiring.graph_tensors import settle_unknown
from .unknown_scores import form_of_scores, unexplained_probabilities, unexplained_scores


def settle_scores(walk: Walk, z: Predict, told: list[str]) -> None:
    """Settles S25 and S26, given what the head gives and the ids of what is wrong up to there.

    Every returned tensor of the right shape must be the logits or a function of them.
    """
    plain = z(walk.context)
    returned = [(path, where) for path, where in walk.trace.outputs if where.shape == tuple(plain.shape)]
    logits_form, probabilities_form = _explain(walk, plain, returned)
    logits: Predict = combine(logits_form.function, z)
    ids = [*([logits_form.id] if logits_form.id else []), *told]
    tensor = logits(walk.context)
    odd = None if ids else unexplained_scores(walk, tensor)
    if odd is not None:
        settle_unknown(walk, "logits", 0, odd, z)
        _settle_probabilities(walk, None)
        return
    walk.settle("logits", 0, logits, walk.find(tensor), right=z, ids=ids)
    if not returned and _for_every_token(walk, plain):
        walk.note("head-on-all-tokens", "logits")
    wrong = probabilities_form is not None and probabilities_form.id is not None
    odd = None if wrong else unexplained_probabilities(walk, tensor, [tensor] if ids else [])
    _settle_probabilities(walk, probabilities_form, odd)
    _about_returned(walk, tensor, [walk.trace.tensor(where) for _, where in returned])


def _about_returned(walk: Walk, logits: Tensor, scores: list[Tensor]) -> None:
    """What is returned in place of the logits, of which ``scores`` have the shape."""
    others = [walk.trace.tensor(where) for _, where in walk.trace.outputs]
    probabilities = eq.class_probabilities(logits)
    if scores and not any(equal(one, logits) for one in scores):
        if any(equal(one, probabilities) for one in scores):
            walk.note("probabilities-returned", "logits")
    elif not scores and any(equal(one, logits.argmax(-1).double()) for one in others):
        walk.note("classes-returned", "logits")
    best = [one.argmax(0).double() for one in (logits, probabilities)]
    if any(equal(one, other) for one in best for other in others):
        walk.note("argmax-over-batch", "class_probabilities")


def _for_every_token(walk: Walk, plain: Tensor) -> bool:
    """Says whether the model returns class scores of every token."""
    shapes = [where.shape for _, where in walk.trace.outputs]
    return (plain.shape[0], walk.context.stage("final_sequence").shape[1], plain.shape[-1]) in shapes


def _explain(walk: Walk, plain: Tensor, returned: list[tuple[str, Reference]]) -> tuple[Form, Form | None]:
    """The forms of S25 and, if it is there, of S26 by which the returned scores come from the head's."""
    forms = form_of_scores(walk, plain) or LOGITS
    pairs = [(logits, probabilities) for logits in forms for probabilities in (None, *CLASS_PROBABILITIES)]
    best: tuple[Form, Form | None] = (forms[0], None)
    # what is called probabilities has the last word
    for path, where in sorted(returned, key=lambda one: "prob" in one[0].lower()):
        tensor = walk.trace.tensor(where)
        output = Output(path, tensor, walk.trace.value(where).dtype)
        for logits, probabilities in sorted(pairs, key=lambda one: _price(one, "prob" in path.lower())):
            if probabilities is not None and probabilities.id and output.is_called_otherwise:
                continue
            value = logits.function(plain)
            value = value if probabilities is None else probabilities.function(value)
            if equal(tensor, value):
                if _more_told(best, (logits, probabilities)):
                    best = (logits, probabilities)
                break
    return best[0], best[1] or _computed(walk, best[0].function(plain))


def _computed(walk: Walk, logits: Tensor) -> Form | None:
    """How probabilities come from the logits that are not returned, as nothing of a script is.

    What sums to one nowhere is no wrong one: a loss computes other things of the logits.
    """
    forms = CLASS_PROBABILITIES[:1] if walk.trace.outputs else CLASS_PROBABILITIES
    values = ((form, form.function(logits)) for form in forms)
    return next((form for form, value in values if _sums_to_one(value) and walk.find(value)), None)


def _sums_to_one(value: Tensor) -> bool:
    return any(equal(sums, torch.ones_like(sums)) for sums in (value.sum(0), value.sum(-1)))


def _price(pair: tuple[Form, Form | None], called_probabilities: bool) -> float:
    """What is returned as probabilities is rather a wrong S26 than a wrong S25."""
    logits, probabilities = pair
    unnamed = 2.0 if called_probabilities and probabilities is None else 0.0
    return logits.price + unnamed + (probabilities.price if probabilities else 0.0)


def _more_told(best: tuple[Form, Form | None], other: tuple[Form, Form | None]) -> bool:
    """A returned tensor tells more than the last one if it is a later step, or shows something wrong."""
    return (other[0].id is not None) >= (best[0].id is not None) and (other[1] is not None or best[1] is None)


def _settle_probabilities(walk: Walk, form: Form | None, odd: Predict | None = None) -> None:
    logits = stage_of("logits", 0)
    right: Predict = combine(eq.class_probabilities, logits)
    if odd is not None:
        settle_unknown(walk, "class_probabilities", 0, odd, right)
        return
    predict: Predict = right if form is None else combine(form.function, logits)
    found = None if form is None else walk.find(predict(walk.context))
    ids = [form.id] if form is not None and form.id else []
    walk.settle("class_probabilities", 0, predict, found, right=right, ids=ids)
