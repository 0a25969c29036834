"""Where a pass shows that queries and keys meet."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from torch import Tensor

from ....reference import equations as eq
from ..context import Predict
from ..forms import NORMS, SCORES
from ..search.nearness import fingerprint
from ..search.norms import BatchNorm, Norm
from ..search.places import Found
from ..walk import Walk
from .heads import Heads
from .projections import tensors
from .rotary import turned


def attending(walk: Walk, heads: Heads) -> Found | None:
    """Where these queries and keys meet, or what attention makes of all three is."""
    q, k, v = tensors(heads, walk.context)
    if not q.shape == k.shape == v.shape:
        return None
    own = tuple(map(fingerprint, (q, k, v)))
    met = walk.once(own[:2], lambda: _met(walk, q, k))
    return met or walk.once(own, lambda: walk.places.find(_attended(q, k, v)))


def _met(walk: Walk, q: Tensor, k: Tensor) -> Found | None:
    """Where they meet, or a norm of each does, or they do turned by their positions."""
    return next(filter(None, map(walk.places.find, _scores(walk, q, k))), None)


def _scores(walk: Walk, q: Tensor, k: Tensor) -> Iterator[Tensor]:
    yield from (form.function(q, k) for form in SCORES)
    normed = [(one, other) for one in _normed(walk, q) for other in _normed(walk, k)]
    yield from (SCORES[0].function(*both) for both in normed)
    for one, other in ((q, k), *normed):
        for both in turned(walk, _known(one), _known(other), walk.position - 1):
            yield SCORES[0].function(*(each(walk.context) for each in both))


def _known(tensor: Tensor) -> Predict:
    return lambda _: tensor


def _normed(walk: Walk, x: Tensor) -> Iterator[Tensor]:
    yield from (norm(walk.context, x) for norm in norms_of(walk, x, walk.position - 1))


def norms_of(walk: Walk, x: Tensor, after: int) -> list[Norm | BatchNorm]:
    """The norms of queries or keys that are there: Dehghani et al. 2023, arXiv:2302.05442."""
    if x.shape[-1] == 1:  # one number has no variance
        return []
    found: list[Norm | BatchNorm] = walk.once(  # the same three meet in many orders
        ("norms", fingerprint(x), after),
        lambda: [norm for norm, _, _ in walk.parameters.norms(x, after, NORMS)],
    )
    return found


def _attended(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return eq.attention_context(eq.attention_probabilities(eq.attention_scores(q, k)), v)


def is_part(walk: Walk, found: Found) -> bool:
    """Are these the scores of some tokens alone?"""
    B, heads, T, _ = walk.context.stage("query", walk.number).shape
    return prod(walk.trace.records[found.record].shape) > B * heads * T * T


def is_turned(found: Found) -> bool:
    """Do its last two axes lie in memory the other way round?"""
    strides = found.places[0].strides
    return len(strides) > 1 and strides[-2] < strides[-1]
