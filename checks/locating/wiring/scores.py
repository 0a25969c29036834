"""The rows of scores and probabilities: what queries and keys go through, and what is added to scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch
from torch import Tensor

from ....reference import equations as eq
from ....submissions.host.trace import Reference, Use
from ..context import Context, Predict
from ..forms import Form
from ..search.origins import origin
from ..steps import Made
from ..walk import Walk, applied, combine
from .meeting import norms_of
from .operators import FormRow
from .rotary import turned
from .rows import Computation

_BIASED = 0.2  # scores, which nothing else is added to
_TURNED = 0.1  # what has the lengths of the queries and keys, and is neither
_NORMED = 0.2  # of queries and keys: each has a norm of its own, which is there for nothing else


def scale(walk: Walk, form: Form) -> str | None:
    """A division by the width of a head is two by its root where one of them is seen apart."""
    if form.id != "scale-by-head-dim":
        return form.id
    query, key = walk.context.stage("query", walk.number), walk.context.stage("key", walk.number)
    root = math.sqrt(query.shape[-1])
    apart = (query / root, key / root, eq.attention_scores(query, key))
    return "scale-applied-twice" if any(walk.places.find(one) for one in apart) else form.id


@dataclass(frozen=True, kw_only=True)
class ScoresRow(FormRow):
    """The scores of two tensors, or of a norm of each (Dehghani et al. 2023, arXiv:2302.05442), or turned."""

    def _ways(self, walk: Walk) -> Iterator[Computation]:
        yield from super()._ways(walk)
        query, key = self.given(walk)
        plain = combine(self.forms[0].function, query.predict, key.predict)(walk.context)
        # of a token with itself, what is turned has the score of what is not
        if walk.places.has_largest(plain, key.began - 1) and walk.places.find(plain, key.began - 1):
            return  # they meet as they are
        yield from self._turned(walk, query, key, ())
        right = combine(self.forms[0].function, query.right, key.right)
        norms = (norms_of(walk, x.predict(walk.context), x.began - 1) for x in (query, key))
        for (first, second), form in product(product(*norms), self.forms):
            id = form.id and self.named(walk, form)
            both = applied(first, query.predict), applied(second, key.predict)
            made = Made(combine(form.function, *both), right, max(query.began, key.began))
            ids = ("qk-norm",) if id is None else ("qk-norm", id)
            price = _NORMED + form.price
            yield Computation(made, price, ids, form.blame, second, may_be_implied=id is None)
            if form is self.forms[0]:
                normed = [Made(one, one, x.began) for one, x in zip(both, (query, key))]
                yield from self._turned(walk, normed[0], normed[1], ids)

    def _turned(self, walk: Walk, query: Made, key: Made, ids: tuple[str, ...]) -> Iterator[Computation]:
        for both in turned(walk, query.predict, key.predict, min(query.began, key.began) - 1):
            for form in self.forms:
                id = form.id and self.named(walk, form)
                made = Made(
                    combine(form.function, *both), combine(self.forms[0].function, *both), query.began
                )
                found = ("rotary-positions", *ids, *([] if id is None else [id]))
                price = _TURNED + form.price
                yield Computation(made, price, found, form.blame, may_be_implied=id is None)


@dataclass(frozen=True, kw_only=True)
class ProbabilitiesRow(FormRow):
    """The softmax of the scores, or of these and what is learned for each pair of tokens: Liu et al. 2021."""

    def right(self, walk: Walk) -> Iterator[Computation]:
        yield from super().right(walk)
        scores, *others = self.given(walk)
        for bias in _added_to(walk, scores.predict(walk.context)):
            found, right = (combine(torch.add, one, bias) for one in (scores.predict, scores.right))
            softmax, rest = self.forms[0].function, [one.right for one in others]
            made = Made(combine(softmax, found, *rest), combine(softmax, right, *rest), scores.began)
            yield Computation(made, _BIASED, ("attention-bias",))


def _added_to(walk: Walk, scores: Tensor) -> Iterator[Predict]:
    """What is computed of parameters alone and added to the scores."""
    place, trace = walk.places.find(scores), walk.trace
    number = None if place is None else place.record
    for use in trace.uses:
        record = trace.records[use.record]
        bias = record.inputs[use.position]
        is_sum = record.op.startswith("add") and any(one[:2] == ("record", number) for one in record.inputs)
        if is_sum and _is_of(bias.shape, scores.shape) and _is_learned(walk, bias):
            yield partial(_used, use=use)


def _is_learned(walk: Walk, bias: Reference) -> bool:
    return any(leaf.kind == "parameter" for leaf in origin(walk.trace, bias).leaves)


def _used(context: Context, use: Use) -> Tensor:
    return context.use(use)


def _is_of(shape: Sequence[int], scores: Sequence[int]) -> bool:
    """Has it a number for each pair of tokens, of every head and image or of all?"""
    others = zip(reversed(shape[:-2]), reversed(scores[:-2]), strict=False)
    return shape[-2:] == tuple(scores[-2:]) and all(one in (1, other) for one, other in others)
