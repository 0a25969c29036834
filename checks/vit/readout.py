"""S22 to S26: the end of the blocks, the final norm, the class representation, logits and probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from ...reference import equations as eq
from ...submissions.host.trace import Use
from ..locating.accounting import matrices_left
from ..locating.anatomy import Input
from ..locating.comparing import equal
from ..locating.context import Context, Predict
from ..locating.forms import ACTIVATIONS, CLASS_PROBABILITIES, NORMS, READOUTS, VARIANT, Form
from ..locating.in_hand import is_in_hand
from ..locating.search.norms import BatchNorm, Norm
from ..locating.search.parameter_search import LinearMap
from ..locating.search.places import Found
from ..locating.walk import Walk, applied, combine, right_of, stage_of
from .block_outputs import settle_block_outputs
from .class_scores import settle_scores

# of a head with hidden layers, what stands between two of them
_BETWEEN: tuple[Callable[[Tensor], Tensor], ...] = (
    *(form.function for form in ACTIVATIONS), torch.tanh, lambda z: z,
)  # fmt: skip
_MOST_HIDDEN = 3  # layers of a head before its last one
_WEIGHTED = Form(eq.class_representation, "attention-pooling", cost=VARIANT)
# what a readout is of a sequence that holds the patches alone, by what it is of one with a class token
_WITHOUT_TOKEN = {
    None: "readout-of-some-patches",
    "readout-last-token": "readout-of-some-patches",
    "mean-pool-patches": "readout-of-some-patches",
    "mean-pool-includes-cls": "mean-pool-patches",
}


@dataclass(frozen=True)
class Readout:
    """One way from the last block to the logits."""

    sequence: Predict  # S23
    representation: Predict  # S24
    scores: Callable[[Predict], Predict]  # S25, of S24
    form: Form
    norm: Norm | BatchNorm | None
    head: LinearMap | None
    ids: tuple[str, ...]
    price: float


def settle_readout(walk: Walk, read: Input, wrong: bool) -> bool:
    """Settles S21 to S26, if the class scores are computed from what is ``read``.

    ``wrong`` allows readouts that are known mistakes.
    """
    x, ids = read
    choice = _cheapest(walk, x, wrong)
    if choice is not None:
        settle_block_outputs(walk, x, _of_input(choice, ids))
        _settle(walk, choice)
    # of what ends before anything is returned, the head is the last layer
    return choice is not None and not (walk.is_cut_short and matrices_left(walk))


def settle_head(walk: Walk, x: Predict) -> bool:
    """Settles S23 to S26 of a pass that is given what the last block gives."""
    choice = _cheapest(walk, x, wrong=False) or _cheapest(walk, x, wrong=True)
    if choice is not None:
        _settle(walk, choice)
    return choice is not None


def _cheapest(walk: Walk, x: Predict, wrong: bool) -> Readout | None:
    among = (one for one in _readouts(walk, x, wrong) if wrong or one.head is not None)
    return min(among, key=lambda one: one.price, default=None)


def _readouts(walk: Walk, x: Predict, wrong: bool) -> Iterator[Readout]:
    tensor, after = x(walk.context), walk.position - 1
    tables = (NORMS[:1], NORMS[1:]) if wrong else (NORMS[:1],)
    forms = READOUTS if wrong else (READOUTS[0], *(one for one in READOUTS if _follows(walk, one)))
    for table in tables:
        for norm, _, _ in walk.parameters.norms(tensor, after, table):
            normed = applied(norm, x)
            yield from _heads(walk, normed, norm, forms, (*norm.ids,), len(norm.ids), after)
            if wrong:
                yield from _normed_twice(walk, normed, norm, after)
        for form in forms:
            row = _row(form, x, walk.class_row)
            if row(walk.context).dim() == 2:
                for norm, _, _ in walk.parameters.norms(row(walk.context), after, table):
                    yield from _normed_row(walk, x, row, norm, form, after)
    yield from _heads(walk, x, None, forms, (), 0.0, after)


def _normed_twice(walk: Walk, x: Predict, norm: Norm | BatchNorm, after: int) -> Iterator[Readout]:
    for again, _, _ in walk.parameters.norms(x(walk.context), after, NORMS[:1]):
        if isinstance(norm, Norm) and walk.parameters.same(norm, again):
            yield from _heads(walk, applied(again, x), again, READOUTS[:1], ("final-norm-twice",), 0.9, after)


def _row(form: Form, x: Predict, class_row: int) -> Predict:
    if form.id is None and class_row:
        return lambda context: x(context)[:, class_row]
    if form.id == "readout-last-token" and class_row:
        return lambda context: x(context)[:, 0]
    return combine(form.function, x)


def _ids(walk: Walk, form: Form) -> list[str]:
    """With the class token at the end, reading row 0 is no second mistake."""
    if "cls-missing" in walk.ids:
        return list(filter(None, [_WITHOUT_TOKEN.get(form.id, form.id)]))
    return [] if form.id is None or _follows(walk, form) else [form.id]


def _follows(walk: Walk, form: Form) -> bool:
    """Does it read row 0, where another mistake has put the class token at the end?"""
    return bool(walk.class_row) and form.id == "readout-last-token"


def _heads(
    walk: Walk,
    sequence: Predict,
    norm: Norm | BatchNorm | None,
    forms: tuple[Form, ...],
    ids: tuple[str, ...],
    price: float,
    after: int,
) -> Iterator[Readout]:
    rows = [(form, _row(form, sequence, walk.class_row)) for form in forms]
    for form, row in [*rows, *_weighted(walk, sequence, after)] if forms is READOUTS else rows:
        found, cost = _ids(walk, form), 0.0 if _follows(walk, form) else form.price
        for scores, head, more, extra in _scores(walk, row, after):
            yield Readout(
                sequence, row, scores, form, norm, head, (*ids, *found, *more), price + cost + extra
            )


def _weighted(walk: Walk, x: Predict, after: int) -> Iterator[tuple[Form, Predict]]:
    """Averages of the tokens with learned weights: the softmax of their products with one vector."""
    for use in walk.parameters.of_size(x(walk.context).shape[-1], after):
        row = partial(_average, x, use)
        if walk.find(row(walk.context)) is not None:
            yield _WEIGHTED, row


def _average(x: Predict, score: Use, context: Context) -> Tensor:
    tokens = x(context)
    return eq.attention_context((tokens @ context.use(score).reshape(-1, 1)).softmax(1).mT, tokens)[:, 0]


def _normed_row(
    walk: Walk, x: Predict, row: Predict, norm: Norm | BatchNorm, form: Form, after: int
) -> Iterator[Readout]:
    normed = applied(norm, row)
    found = _ids(walk, form)
    ids = (*found, *norm.ids, "final-norm-after-readout")
    for scores, head, more, extra in _scores(walk, normed, after):
        price = 0.05 + form.price + len(norm.ids) + extra
        yield Readout(x, normed, scores, form, norm, head, (*ids, *more), price)


def _scores(
    walk: Walk, row: Predict, after: int
) -> Iterator[tuple[Callable[[Predict], Predict], LinearMap | None, tuple[str, ...], float]]:
    tensor = row(walk.context)
    if tensor.dim() == 2 and not walk.is_cut_short and _is_returned(walk, tensor):
        yield lambda x: x, None, ("head-missing",), 1.0
    for head, result, found in walk.parameters.linears(tensor, after):
        is_wide = result.shape[-1] == walk.sizes.classes  # and so may be a hidden layer's
        if is_wide and _is_returned(walk, result):
            yield partial(applied, head), head, (), 0.0
            continue
        further = _behind(walk, partial(applied, head), result, found, _MOST_HIDDEN)
        if further is not None:
            yield *further, ("head-hidden-layer",), 0.3
            return
        if is_wide:
            yield partial(applied, head), head, (), 0.0


def _behind(
    walk: Walk, head: Callable[[Predict], Predict], hidden: Tensor, found: Found, most: int
) -> tuple[Callable[[Predict], Predict], LinearMap] | None:
    """The whole of a head whose first layers give ``hidden``, and its last layer; at most ``most`` more."""
    for function in _BETWEEN:
        for layer, result, where in walk.parameters.linears(function(hidden), found.record - 1):
            longer = partial(_longer, head, function, layer)
            if result.shape[-1] == walk.sizes.classes and _is_returned(walk, result):  # and no MLP of a block
                return longer, layer
            further = _behind(walk, longer, result, where, most - 1) if most > 1 else None
            if further is not None:
                return further
    return None


def _longer(
    head: Callable[[Predict], Predict], function: Callable[[Tensor], Tensor], layer: LinearMap, x: Predict
) -> Predict:
    """The head with one more layer, of S24."""
    return applied(layer, combine(function, head(x)))


def _is_returned(walk: Walk, scores: Tensor) -> bool:
    """Does the model give back these scores, or what follows from them? It may be about to."""
    if walk.is_cut_short:
        last = walk.trace.tensor(walk.trace.records[-1].reference)
        return is_in_hand(walk, scores) or equal(scores, last)
    answers = [scores, scores.argmax(-1).double(), *(one.function(scores) for one in CLASS_PROBABILITIES)]
    returned = [walk.trace.tensor(where) for _, where in walk.trace.outputs]
    return any(equal(one, other) for one in answers for other in returned)


def _of_input(choice: Readout, ids: tuple[str, ...]) -> tuple[str, ...]:
    normed = choice.norm is not None and "final-norm-after-readout" not in choice.ids
    if normed and ids == ("readout-before-encoder",):  # not the token alone was read from there
        return ("block-result-discarded",)
    return ids


def _settle(walk: Walk, choice: Readout) -> None:
    _settle_sequence(walk, choice)
    if choice.norm is not None:
        walk.roles["final_norm"] = choice.norm
    if choice.head is not None:
        walk.roles["head"] = choice.head
    told = [choice.form.id] if choice.form.blame == "logits" and choice.form.id else []
    told += [one for one in ("head-hidden-layer", "head-missing") if one in choice.ids]
    settle_scores(walk, choice.scores(stage_of("class_representation", 0)), told)


def _settle_sequence(walk: Walk, choice: Readout) -> None:
    """S23 and S24; the norm may stand before or after the class token is taken."""
    after_readout = "final-norm-after-readout" in choice.ids
    sequence = choice.sequence(walk.context)
    norm_ids = [] if choice.norm is None else list(choice.norm.ids)
    walk.settle(
        "final_sequence",
        0,
        choice.sequence,
        walk.find(sequence),
        right=_right_sequence(choice),
        ids=[] if after_readout else norm_ids,
    )
    _about_final_norm(walk, choice)
    row: Predict = choice.representation
    s23 = stage_of("final_sequence", 0)
    right: Predict = combine(eq.class_representation, s23)
    if walk.class_row and choice.form.id is None:
        right = _row(choice.form, s23, walk.class_row)
        walk.renamed("cls-appended-last", "class-token-last")
    if after_readout and choice.norm is not None:
        right = right_of(choice.norm, right)
    blamed = choice.form.blame or "class_representation"
    ids = _ids(walk, choice.form) if blamed == "class_representation" else []
    walk.settle(
        "class_representation",
        0,
        row,
        walk.find(row(walk.context)),
        right=right,
        ids=[*ids, *(norm_ids if after_readout else [])],
    )


def _right_sequence(choice: Readout) -> Predict:
    s22 = stage_of("last_block_output", 0)
    norm = choice.norm
    if norm is None or "final-norm-after-readout" in choice.ids:
        return choice.sequence
    return right_of(norm, s22)


def _about_final_norm(walk: Walk, choice: Readout) -> None:
    """Blocks that add to their input without a norm have one after them, others have none."""
    if choice.norm is None and walk.blocks and not walk.normed:
        walk.note("final-norm-missing", "final_sequence")
    if choice.norm is not None and walk.normed:
        walk.note("extra-final-norm", "final_sequence")
    for id in ("final-norm-after-readout", "final-norm-twice"):
        if id in choice.ids:
            walk.note(id, "final_sequence")
