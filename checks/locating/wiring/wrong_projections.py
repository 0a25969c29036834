"""S09 to S11 where not all of query, key and value are maps of the whole normed input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from torch import Tensor

from ..context import Context, Predict
from ..walk import Walk, applied
from .cutting import Count, role
from .heads import Heads
from .projections import Projected, head_count, one_and_two, projected


def shared_slices(walk: Walk, x: Predict, after: int) -> list[Heads]:
    """Heads that each project their own slice of the width, by small maps which all of them share."""
    heads = walk.sizes.heads
    if heads == 1 or x(walk.context).shape[-1] % heads:
        return []
    count = head_count(walk, heads)

    def sliced(context: Context) -> Tensor:
        return _cut(x(context), count(context))

    maps = list(walk.parameters.linears(sliced(walk.context), after))
    d = sliced(walk.context).shape[-1]
    small = [applied(map_, sliced) for map_, result, _ in maps if result.shape[-1] == d]
    fused = [applied(map_, sliced) for map_, result, _ in maps if result.shape[-1] == 3 * d]
    groups = [tuple(small[:3])] if len(small) >= 3 else []
    groups += [tuple(_third(one, number) for number in range(3)) for one in fused[:1]]
    return [
        Heads(
            (_heads_first(q), _heads_first(k), _heads_first(v)),
            heads,
            "separate",
            "heads-share-projection",
            price=1.0,
        )
        for q, k, v in groups
    ]


def _cut(x: Tensor, heads: int) -> Tensor:
    """From B T D to B T h d."""
    return x.reshape(*x.shape[:-1], heads, -1)


def _third(x: Predict, number: int) -> Predict:
    return lambda context: x(context).chunk(3, -1)[number]


def _heads_first(x: Predict) -> Predict:
    return lambda context: x(context).transpose(1, 2)


def unprojected_values(walk: Walk, maps: Sequence[Projected], x: Predict) -> list[Heads]:
    """Query and key projected, and the value a slice of the input itself."""
    heads, width = walk.sizes.heads, x(walk.context).shape[-1]
    if width % heads:
        return []
    count = head_count(walk, heads)
    value = role(x, "rhd", 1, count, 0)
    pairs = [
        _packed_pair(one, one.outputs // width, count)
        for one in maps
        if one.outputs in (2 * width, 3 * width)
    ]
    if len(maps) == 2 and all(one.outputs == width for one in maps):
        pairs.append((role(maps[0].predict, "rhd", 1, count, 0), role(maps[1].predict, "rhd", 1, count, 0)))
    return [Heads((q, k, value), heads, "separate", "values-not-projected", "value", 1.0) for q, k in pairs]


def _packed_pair(one: Projected, roles: int, count: Count) -> tuple[Predict, Predict]:
    return role(one.predict, "rhd", roles, count, 0), role(one.predict, "rhd", roles, count, 1)


def raw_keys(walk: Walk, maps: Sequence[Projected], x: Predict, normed: Predict, after: int) -> list[Heads]:
    """The query from the normed input, key and value from the input itself."""
    if len(maps) != 1 or maps[0].outputs % walk.sizes.heads:
        return []
    query, count = maps[0], head_count(walk, walk.sizes.heads)
    others = projected(walk, x, after)
    found = []
    for k, v in pairwise(others):
        if k.outputs == v.outputs == query.outputs:
            q, *rest = (role(one.predict, "rhd", 1, count, 0) for one in (query, k, v))
            right = [role(applied(one.map, normed), "rhd", 1, count, 0) for one in (k, v)]
            found.append(_on_query(walk, (q, rest[0], rest[1]), (q, right[0], right[1])))
    for kv in others:
        if kv.outputs == 2 * query.outputs:
            parts = one_and_two(query, kv, "rhd", count)
            right_kv = Projected(kv.map, applied(kv.map, normed), kv.outputs)
            found.append(_on_query(walk, parts, one_and_two(query, right_kv, "rhd", count)))
    return found


def one_raw(walk: Walk, maps: Sequence[Projected], x: Predict, normed: Predict, after: int) -> list[Heads]:
    """Two of the three from the normed input, and one from the input itself: most often the value."""
    if len(maps) != 2 or maps[0].outputs != maps[1].outputs or maps[0].outputs % walk.sizes.heads:
        return []
    count, found = head_count(walk, walk.sizes.heads), []
    for other in projected(walk, x, after):
        if other.outputs != maps[0].outputs:
            continue
        for number, blame in ((2, "value"), (0, "query"), (1, "key")):
            rights = [*maps[:number], replace(other, predict=applied(other.map, normed)), *maps[number:]]
            parts = [*maps[:number], other, *maps[number:]]
            (q, k, v), right = (
                [role(one.predict, "rhd", 1, count, 0) for one in three] for three in (parts, rights)
            )
            heads = Heads((q, k, v), walk.sizes.heads, "separate", "norm-left-out-of-one", blame, 1.0)
            found.append(replace(heads, right=(right[0], right[1], right[2])))
    return found


def _on_query(
    walk: Walk, parts: tuple[Predict, Predict, Predict], right: tuple[Predict, Predict, Predict]
) -> Heads:
    return Heads(parts, walk.sizes.heads, "separate", "norm-only-on-query", "key", 1.0, right=right)
