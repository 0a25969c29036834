"""S09 to S14 where weights were merged, so that query, key, value or context are no tensors of the pass.

Scores can be computed as x · (W_q · W_kᵀ) · xᵀ, and the output as P · x · (W_v · W_o). The weights are there
all the same. They are bound to roles by trial: what the right equations give with them must be in the pass,
to rounding, at the next stage that exists. With random weights no wrong model passes that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from ....reference import equations as eq
from ..comparing import equal
from ..context import Context, Predict
from ..search.linear_maps import LinearMap
from ..walk import Walk, applied
from .cutting import role, unpack
from .heads import Heads
from .projections import head_count


@dataclass(frozen=True)
class _Part:
    """What may be query, key or value: a map of the block's normed input, cut into heads."""

    map: LinearMap
    predict: Predict
    context: Context
    rows: Tensor  # 3 d: of the last image and head the second token, one in the middle, and the last

    @cached_property
    def tensor(self) -> Tensor:
        """Shape (B, h, T, d)."""
        return self.context.of(self.predict)


def implied_attention(walk: Walk, x: Predict, normed: Predict, after: int) -> Heads | None:
    """Right attention on ``normed`` whose context, or output, alone or added to ``x``, is in the trace."""
    parts = list(_different(_parts(walk, normed, after)))
    for q, k in (pair for pair in _pairs(walk, parts) if not _one_weight(*pair)):
        scores = eq.attention_scores(q.tensor, k.tensor)
        probabilities = eq.attention_probabilities(scores)
        if not any(walk.find(one, after) for one in (scores, probabilities, q.tensor @ k.tensor.mT)):
            continue
        for v in (one for one in parts if one.rows.shape == q.rows.shape):
            own = not (_one_weight(v, q) or _one_weight(v, k))
            if own and _leads_on(walk, x, probabilities @ v.tensor, after):
                maps = (q.map, k.map, v.map)
                return Heads((q.predict, k.predict, v.predict), len(scores[0]), "merged", maps=maps)
    return None


def _parts(walk: Walk, x: Predict, after: int) -> Iterator[_Part]:
    heads = walk.heads or walk.sizes.heads
    count = head_count(walk, heads)
    tokens = walk.context.of(x)
    width, some = tokens.shape[-1], tokens[-1:, [1, tokens.shape[1] // 2, -1]]
    for map_, features in walk.parameters.unseen(width, heads, after):
        mapped, of_some = applied(map_, x), map_(walk.context, some)
        for roles in (1, 2, 3) if features * heads > width else (1,):
            for number in range(roles) if features % roles == 0 else ():
                rows = unpack(of_some, "rhd", roles, heads)[number][0, -1]
                yield _Part(map_, role(mapped, "rhd", roles, count, number), walk.context, rows)


def _different(parts: Iterator[_Part]) -> Iterator[_Part]:
    """Each once: what blocks share is used as often as there are blocks."""
    seen = set()
    for one in parts:
        numbers = one.rows.numpy().tobytes()
        if numbers not in seen:
            seen.add(numbers)
            yield one


def _pairs(walk: Walk, parts: list[_Part]) -> Iterator[tuple[_Part, _Part]]:
    """Queries and keys two of whose products, scaled or not, are somewhere in the trace."""
    by_width = sorted(parts, key=lambda one: len(one.rows[0]))
    for width, group in groupby(by_width, key=lambda one: len(one.rows[0])):
        same = list(group)
        rows = torch.stack([one.rows for one in same])  # parts 3 d
        products = (rows[:, 1] @ rows[:, [0, -1]].permute(1, 2, 0)).permute(1, 2, 0)  # query key 2
        there = np.zeros(len(same) ** 2, dtype=bool)
        for scale in (width**-0.5, 1.0):
            values = (products * scale).reshape(-1, 2).detach().numpy()
            there |= walk.places.have(values, np.abs(values).max(1))
        for position in np.flatnonzero(there).tolist():
            q, k = divmod(position, len(same))
            yield same[q], same[k]


def _one_weight(first: _Part, second: _Part) -> bool:
    """Do they differ by their biases at most? One weight in two roles is a mistake."""
    a, b = (one.tensor - one.tensor.mean(2, keepdim=True) for one in (first, second))
    return equal(a, b)


def _leads_on(walk: Walk, x: Predict, context: Tensor, after: int) -> bool:
    """Is the context in the trace, or a linear map of the heads side by side, or its sum with ``x``?"""
    if walk.find(context, after):
        return True
    merged, residual = eq.merge_heads(context), x(walk.context)
    width = residual.shape[-1]
    return any(
        next(walk.parameters.linears(merged, after, width, plus), None) is not None
        for plus in (None, residual)
    )
