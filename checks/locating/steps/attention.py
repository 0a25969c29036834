"""S09 to S15: query, key, value, scores, probabilities, context, output."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ....reference import equations as eq
from ..anatomy import anatomy_of
from ..context import Predict
from ..forms import CONTEXTS, MERGES, SCORES, Form
from ..heads import Attention, Heads
from ..search.parameters import Linear
from ..walk import Walk, applied, combine, stage_of
from .projections import PACKINGS, orders, tensors
from .roles import about_maps


def right_forms(walk: Walk) -> tuple[Form, Form, Form]:
    """Of scores, probabilities and context."""
    return SCORES[0], anatomy_of(walk.family).probabilities[0], CONTEXTS[0]


def right_attention(walk: Walk, candidates: list[Heads]) -> Attention | None:
    """The right equations, under any packing and order."""
    for heads, order in _ordered(candidates, limit=1.0):
        attention = Attention(heads, order, *right_forms(walk))
        if _context_of(walk, attention) is not None:
            return attention
    return None


def wrong_attention(walk: Walk, candidates: list[Heads]) -> Attention | None:
    """The cheapest known wrong equations; those of the block before first."""
    again = _as_before(walk, candidates)
    if again is not None:
        return again
    best: Attention | None = None
    for heads, order in _ordered(candidates, limit=9.0):
        at_least = heads.price + (0.0 if heads.id else 1.0)  # right forms with right heads have been refused
        if best is None or best.price > at_least:
            found = [*_wrong(walk, heads, order), *([best] if best else [])]
            best = min(found, key=lambda one: one.price, default=None)
    return best


def _as_before(walk: Walk, candidates: list[Heads]) -> Attention | None:
    before = walk.attention
    if before is None:
        return None
    for heads, order in _ordered(candidates, limit=9.0):
        if (heads.packing, heads.id, order) == (before.heads.packing, before.heads.id, before.order):
            attention = replace(before, heads=heads)
            if _context_of(walk, attention) is not None:
                return attention
    return None


def _ordered(candidates: list[Heads], limit: float) -> Iterator[tuple[Heads, str | None]]:
    rows = [row for heads in candidates if heads.price < limit for row in orders(heads)]
    return iter(sorted(rows, key=lambda row: row[0].price))


def _context_of(walk: Walk, attention: Attention) -> Tensor | None:
    """The context that these forms give, if it is in the trace."""
    q, k, v = tensors(attention.heads, walk.context)
    if not q.shape == k.shape == v.shape:
        return None
    scores = attention.scores.function(q, k)
    context = attention.context.function(attention.probabilities.function(scores, q), q, k, v)
    return context if walk.find(context) else None


def _wrong(walk: Walk, heads: Heads, order: str | None) -> Iterator[Attention]:
    """Every known wrong way whose context is in the trace, pruned by what is observed on the way."""
    if walk.exhausted or (heads.packing in PACKINGS[1:] and order is not None):
        return
    if heads.price >= 1.0:  # one mistake is enough
        attention = Attention(heads, order, *right_forms(walk))
        if _context_of(walk, attention) is not None:
            yield attention
        return
    q, k, v = tensors(heads, walk.context)
    if not q.shape == k.shape == v.shape:
        return
    for form in anatomy_of(walk.family).whole_attention if heads.heads > 1 and heads.id is None else ():
        if form.id == "attention-over-batch-axis" and len(q) == 1:
            continue  # over one image, as over one head, the context is the value
        if walk.find(form.function(q, k, v)):
            yield Attention(heads, order, *right_forms(walk)[:2], Form(_whole(form), form.id, form.blame))
    right, *wrong = anatomy_of(walk.family).probabilities
    for scores in _score_forms(walk, q, k):
        s = scores.function(q, k)
        seen = [form for form in wrong if walk.find(form.function(s, q))]
        # the right ones are tried unseen: zeros and ones alone are not to be found
        for probabilities in (right, *(seen or wrong)):
            p = probabilities.function(s, q)
            for context in CONTEXTS:
                if walk.find(context.function(p, q, k, v)):
                    yield Attention(
                        heads, order, _without_its_scale(scores, probabilities), probabilities, context
                    )


def _whole(form: Form) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    return lambda p, q, k, v: form.function(q, k, v)


def _score_forms(walk: Walk, q: Tensor, k: Tensor) -> list[Form]:
    """Those observed; scores under a mask may be seen nowhere."""
    seen = [form for form in SCORES if walk.find(form.function(q, k))]
    return seen or ([SCORES[0]] if _masked(walk, q, k) else [])


def _masked(walk: Walk, q: Tensor, k: Tensor) -> bool:
    """Says whether something over all pairs of tokens is infinite, as scores are under a mask."""
    pairs = q.shape[:-1].numel() * k.shape[-2]
    cells = [one.cells for one in walk.trace.records[walk.position :] if one.image and one.cells is not None]
    return any(one.numel() == pairs and not bool(torch.isfinite(one).all()) for one in cells)


def _without_its_scale(scores: Form, probabilities: Form) -> Form:
    """A scale applied after the softmax instead of before is one mistake."""
    moved = probabilities.id == "scale-after-softmax" and scores.id == "scale-missing"
    return Form(scores.function, probabilities.id) if moved else scores


def settle_attention(walk: Walk, block: int, attention: Attention) -> None:
    """S09 to S14 as found."""
    walk.attention = attention
    start = walk.position - 1  # scores may be computed before the values are
    settle_projections(walk, block, attention.heads)
    if attention.order is not None:
        walk.note(attention.order, "query")
    q, k, v = (stage_of(name, block) for name in ("query", "key", "value"))
    reached = walk.position
    _settle_scores(walk, block, attention, q, k, start)
    _settle_probabilities(walk, block, attention.probabilities, q, start)
    p = stage_of("attention_probabilities", block)
    form = attention.context
    context: Predict = combine(form.function, p, q, k, v)
    right_context: Predict = combine(eq.attention_context, p, v)
    walk.position = reached  # scores that are put together for a plot are in a much later record
    walk.settle(
        "attention_context",
        block,
        context,
        walk.find(context(walk.context), start),
        right=right_context,
        ids=_ids(form),
        blame=form.blame,
    )


def settle_projections(walk: Walk, block: int, heads: Heads) -> None:
    """S09 to S11."""
    walk.heads, walk.packing = heads.heads, heads.packing
    start = walk.position - 1
    for number, map_ in enumerate(heads.maps):
        walk.roles[f"block{block}.projection{number}"] = map_
    for number, name in enumerate(("query", "key", "value")):
        predict = heads.parts[number]
        ids = [heads.id] if heads.id and name == heads.blame else []
        right = heads.right[number] if heads.right else predict
        found = walk.find(predict(walk.context), start)
        walk.settle(name, block, predict, found, right=right, ids=ids)
    about_maps(walk, heads)


def _ids(form: Form) -> list[str]:
    return [] if form.id is None else [form.id]


def _settle_scores(walk: Walk, block: int, attention: Attention, q: Predict, k: Predict, start: int) -> None:
    form = attention.scores
    scores: Predict = combine(form.function, q, k)
    right: Predict = combine(eq.attention_scores, q, k)
    ids = _ids(form)
    if form.id == "scale-by-head-dim" and _scaled_before(walk, q, k):
        ids = ["scale-applied-twice"]
    found = walk.find(scores(walk.context), start)
    walk.settle("attention_scores", block, scores, found, right=right, ids=ids)


def _scaled_before(walk: Walk, q: Predict, k: Predict) -> bool:
    """Says whether one of two divisions by √d is seen apart from the other."""
    query, key = q(walk.context), k(walk.context)
    root = math.sqrt(query.shape[-1])
    return any(walk.find(one) for one in (query / root, key / root, eq.attention_scores(query, key)))


def _settle_probabilities(walk: Walk, block: int, form: Form, q: Predict, start: int) -> None:
    s = stage_of("attention_scores", block)
    predict: Predict = combine(form.function, s, q)
    if form.masked is not None:
        s = _settle_masked(walk, block, form.masked, start)
    right: Predict = combine(eq.attention_probabilities, s)
    tensor = predict(walk.context)
    found = walk.find(tensor, start) if torch.isfinite(tensor).all() else None
    key = "attention_probabilities"
    walk.settle(key, block, predict, found, right=right, ids=_ids(form), blame=form.blame)


def _settle_masked(walk: Walk, block: int, mask: Callable[[Tensor], Tensor], start: int) -> Predict:
    """The scores of which the softmax is taken."""
    s = stage_of("attention_scores", block)
    masked: Predict = combine(mask, s)
    right: Predict = combine(anatomy_of(walk.family).probabilities[0].masked or mask, s)
    found = walk.find(masked(walk.context), start)
    walk.settle("masked_scores", block, masked, found, right=right)
    return stage_of("masked_scores", block)


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


def implied_outputs(walk: Walk, block: int) -> Iterator[Output]:
    """S15 where it is no tensor, because it was added to the residual as it was computed."""
    merged: Predict = _merged(MERGES[0], stage_of("attention_context", block))
    x = walk.context.stage("block_input", block)
    for map_, _, _ in walk.parameters.linears(merged(walk.context), walk.position - 1, x.shape[-1], x):
        yield Output(applied(map_, merged), applied(map_, merged), (), 0.0, map_, merged)


def _merged(form: Form, context: Predict) -> Predict:
    return lambda c: form.function(context(c))


def _activated(x: Predict) -> Predict:
    return lambda c: x(c).relu()
