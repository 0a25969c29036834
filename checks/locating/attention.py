"""S09 to S15: query, key, value, scores, probabilities, context, output."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ...reference import equations as eq
from .context import Context, Predict
from .forms import CONTEXTS, MERGES, PROBABILITIES, SCORES, WHOLE_ATTENTION, Form, scale_after_softmax
from .parameters import Linear
from .projections import Heads, orders, tensors
from .walk import Walk, applied, stage_of

_RIGHT = (SCORES[0], PROBABILITIES[0], CONTEXTS[0])


@dataclass(frozen=True)
class Attention:
    """One way from query, key and value to the context, each form with its blame."""

    heads: Heads
    order: str | None
    scores: Form
    probabilities: Form
    context: Form

    @property
    def price(self) -> float:
        return self.heads.price + self.scores.price + self.probabilities.price + self.context.price


def right_attention(walk: Walk, candidates: list[Heads]) -> Attention | None:
    """The right equations, under any packing and order."""
    for heads, order in _ordered(candidates, limit=1.0):
        attention = Attention(heads, order, *_RIGHT)
        if _context_of(walk, attention) is not None:
            return attention
    return None


def wrong_attention(walk: Walk, candidates: list[Heads]) -> Attention | None:
    """The cheapest known wrong equations."""
    found = [one for heads, order in _ordered(candidates, limit=9.0) for one in _wrong(walk, heads, order)]
    return min(found, key=lambda one: one.price, default=None)


def _ordered(candidates: list[Heads], limit: float) -> Iterator[tuple[Heads, str | None]]:
    rows = [row for heads in candidates if heads.price < limit for row in orders(heads)]
    return iter(sorted(rows, key=lambda row: row[0].price))


def _context_of(walk: Walk, attention: Attention) -> Tensor | None:
    """The context that these forms give, if it is in the trace."""
    q, k, v = tensors(attention.heads, walk.context)
    if not q.shape == k.shape == v.shape:
        return None
    scores = attention.scores.function(q, k)
    context = attention.context.function(attention.probabilities.function(scores), q, k, v)
    return context if walk.find(context) else None


def _wrong(walk: Walk, heads: Heads, order: str | None) -> Iterator[Attention]:
    """Every known wrong way whose context is in the trace, pruned by what is observed on the way."""
    if walk.exhausted:
        return
    q, k, v = tensors(heads, walk.context)
    if not q.shape == k.shape == v.shape:
        return
    for form in WHOLE_ATTENTION:
        if walk.find(form.function(q, k, v)):
            yield Attention(heads, order, *_RIGHT[:2], Form(_whole(form), form.id, form.blame))
    for scores in _score_forms(walk, q, k):
        s = scores.function(q, k)
        for probabilities in _probability_forms(scores, q):
            p = probabilities.function(s)
            for context in CONTEXTS:
                if walk.find(context.function(p, q, k, v)):
                    yield Attention(heads, order, _without_its_scale(scores, probabilities), probabilities, context)


def _whole(form: Form) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    return lambda p, q, k, v: form.function(q, k, v)


def _score_forms(walk: Walk, q: Tensor, k: Tensor) -> list[Form]:
    """Those observed; where none is, a factor fitted to what was computed over all pairs of tokens."""
    seen = [form for form in SCORES if walk.find(form.function(q, k))]
    if seen:
        return seen
    fitted = _fitted_scale(walk, q @ k.mT)
    return [] if fitted is None else [Form(_scaled(fitted), "scale-by-num-heads")]


def _scaled(factor: float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda q, k: q @ k.mT * factor


def _fitted_scale(walk: Walk, products: Tensor) -> float | None:
    flat = products.flatten()
    for record in walk.trace.records[walk.position :]:
        if record.image and record.cells is not None and record.cells.numel() == flat.numel():
            factor = float(record.cells @ flat / (flat @ flat))
            if factor and walk.find(products * factor):
                return factor
    return None


def _probability_forms(scores: Form, q: Tensor) -> list[Form]:
    forms = [*PROBABILITIES, Form(_first_head, "only-first-head-used", "attention_scores")]
    if scores.id == "scale-missing":
        d, h = q.shape[-1], q.shape[1]
        forms += [
            Form(_scaled_after(number, d, h), "scale-after-softmax", cost=0.5) for number in range(2)
        ]  # with the missing scale before it, one mistake
    return forms


def _first_head(scores: Tensor) -> Tensor:
    return scores[:, :1].softmax(-1).expand(scores.shape)


def _scaled_after(number: int, head_dim: int, heads: int) -> Callable[[Tensor], Tensor]:
    return lambda scores: scale_after_softmax(scores, head_dim, heads)[number]


def _without_its_scale(scores: Form, probabilities: Form) -> Form:
    """A scale applied after the softmax is one mistake, and S12 is not to blame for it."""
    return Form(scores.function) if probabilities.id == "scale-after-softmax" else scores


def settle_attention(walk: Walk, block: int, attention: Attention) -> None:
    """S09 to S14 as found."""
    heads = attention.heads
    walk.heads, walk.packing = heads.heads, heads.packing
    for name, predict in zip(("query", "key", "value"), heads.parts):
        ids = [heads.id] if heads.id and name == _blamed(heads.id) else []
        right = _right_part(heads, name) if ids else predict
        walk.settle(name, block, predict, walk.find(predict(walk.context)), right=right, ids=ids)
    if attention.order is not None:
        walk.note(attention.order, "query")
    q, k, v = (stage_of(name, block) for name in ("query", "key", "value"))
    _settle_scores(walk, block, attention, q, k)
    _settle_form(
        walk, "attention_probabilities", block, attention.probabilities, eq.attention_probabilities,
        stage_of("attention_scores", block),
    )
    p = stage_of("attention_probabilities", block)
    form = attention.context
    context: Predict = lambda c: form.function(p(c), q(c), k(c), v(c))
    right_context: Predict = lambda c: eq.attention_context(p(c), v(c))
    walk.settle(
        "attention_context", block, context, walk.find(context(walk.context)), right=right_context,
        ids=_ids(form), blame=form.blame,
    )


def _ids(form: Form) -> list[str]:
    return [] if form.id is None else [form.id]


def _blamed(id: str) -> str:
    return {"query-equals-key": "key", "keys-reused-as-values": "value", "values-not-projected": "value"}.get(id, "query")


def _right_part(heads: Heads, name: str) -> Predict:
    """What splitting the same projection into heads gives."""
    number = ("query", "key", "value").index(name)
    part = heads.parts[number]

    def predict(context: Context) -> Tensor:
        wrong = part(context)
        B, h, T, d = wrong.shape
        return wrong.reshape(B, T, h, d).transpose(1, 2)

    return predict


def _settle_scores(walk: Walk, block: int, attention: Attention, q: Predict, k: Predict) -> None:
    form = attention.scores
    scores: Predict = lambda c: form.function(q(c), k(c))
    right: Predict = lambda c: eq.attention_scores(q(c), k(c))
    ids = _ids(form)
    if form.id == "scale-by-head-dim" and _scaled_before(walk, q, k):
        ids = ["scale-applied-twice"]
    walk.settle("attention_scores", block, scores, walk.find(scores(walk.context)), right=right, ids=ids)


def _scaled_before(walk: Walk, q: Predict, k: Predict) -> bool:
    """Is one of the two divisions by √d seen apart from the other?"""
    query, key = q(walk.context), k(walk.context)
    root = math.sqrt(query.shape[-1])
    return any(walk.find(one) for one in (query / root, key / root, eq.attention_scores(query, key)))


def _settle_form(
    walk: Walk, key: str, block: int, form: Form, right: Callable[[Tensor], Tensor], x: Predict
) -> None:
    predict: Predict = lambda c: form.function(x(c))
    tensor = predict(walk.context)
    found = walk.find(tensor) if torch.isfinite(tensor).all() else None
    walk.settle(key, block, predict, found, right=lambda c: right(x(c)), ids=_ids(form), blame=form.blame)


@dataclass(frozen=True)
class Output:
    """One way from the context to S15: how heads are merged, and the linear map if there is one."""

    predict: Predict
    right: Predict
    ids: tuple[str, ...]
    price: float
    map: Linear | None
    merged: Predict


def outputs(walk: Walk, block: int) -> Iterator[Output]:
    """Every way to S15 that the trace allows, cheapest first; the sum that follows decides."""
    context = stage_of("attention_context", block)
    width = walk.context.stage("positioned_tokens").shape[-1]
    for form in MERGES:
        merged: Predict = _merged(form, context)
        right_merged: Predict = _merged(MERGES[0], context)
        x = merged(walk.context)
        for map_, _, _ in walk.parameters.linears(x, walk.position - 1, width):
            same = right_merged(walk.context).shape == x.shape
            right = applied(map_, right_merged if same else merged)
            yield Output(applied(map_, merged), right, tuple(_ids(form)), form.price, map_, merged)
            activated: Predict = _activated(applied(map_, merged))
            if walk.find(activated(walk.context)):
                ids = (*_ids(form), "activation-after-out-proj")
                yield Output(activated, right, ids, form.price + 1.0, map_, merged)
        if x.shape[-1] == width:
            ids = (*_ids(form), "output-projection-missing")
            yield Output(merged, merged, ids, form.price + 1.0, None, merged)


def _merged(form: Form, context: Predict) -> Predict:
    return lambda c: form.function(context(c))


def _activated(x: Predict) -> Predict:
    return lambda c: x(c).relu()

