"""S09 to S11: which maps of the block's normed input are query, key and value, and how they are packed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import torch
from torch import Tensor

from ..context import Context, Predict
from ..search.parameter_search import LinearMap
from ..walk import Walk, applied
from .cutting import PACKINGS, SCRAMBLED, SINGLE_CUTS, Count, role, scrambled_role
from .heads import Heads, Parts
from .naming import is_called, key_comes_first

_INTERLEAVED = "qkv-interleaved-layout"
_ALONE = 0.05  # more than for all three
# Which of the three serve as query, key and value where one is read in another's place. What is read in the
# value's is told at S14.
_TWICE = (
    ((0, 0, 2), "query-equals-key", "key"),
    ((1, 1, 2), "query-equals-key", "query"),
    ((2, 1, 2), "query-equals-value", "query"),
    ((0, 2, 2), "keys-reused-as-values", "key"),
)


@dataclass(frozen=True)
class Projected:
    """One linear map of the block's normed input, and its result."""

    map: LinearMap
    predict: Predict
    outputs: int


def projected(walk: Walk, x: Predict, after: int) -> list[Projected]:
    """Every linear map of ``x`` whose result is in the trace, in order of use."""
    maps = walk.parameters.linears(x(walk.context), after)
    return [Projected(map_, applied(map_, x), result.shape[-1]) for map_, result, _ in maps]


def arrangements(walk: Walk, maps: Sequence[Projected]) -> Iterator[Heads]:
    """Ways to see query, key and value in ``maps``, the usual ones first."""
    for heads in _cut(walk, maps):
        yield heads
        if heads.id in (None, _INTERLEAVED):
            yield from _one_twice(heads)


def _one_twice(heads: Heads) -> Iterator[Heads]:
    """One of the three was projected, or not, and another is read in its place."""
    for (first, second, third), id, blame in _TWICE:
        parts = (heads.parts[first], heads.parts[second], heads.parts[third])
        price = heads.price + 1.0
        yield replace(heads, parts=parts, id=id, blame=blame, price=price, right=heads.parts)


def _cut(walk: Walk, maps: Sequence[Projected]) -> Iterator[Heads]:
    yield from _per_head(walk, maps)
    yield from _first_for_all(walk, maps)
    for heads in _head_counts(walk):
        if heads == 1:  # what gives less is one of several heads
            maps = [one for one in maps if one.outputs >= walk.sizes.embed_dim]
        count = head_count(walk, heads)
        for found in (
            *_packed(maps, heads, count),
            *_separate(walk, maps, heads, count),
            *_two_and_one(maps, heads, count),
        ):
            if heads == 1 and walk.sizes.heads > 1:
                yield replace(found, id="num-heads-ignored", price=found.price + 1.0)
            else:
                yield replace(found, price=found.price + (0.0 if heads == walk.sizes.heads else 0.3))


def head_count(walk: Walk, heads: int) -> Count:
    """``heads``, and at other sizes what is asked for there, if it is what was asked for here."""
    asked = heads == walk.sizes.heads
    return lambda context: context.sizes.heads if asked else heads


def _head_counts(walk: Walk) -> list[int]:
    """The number asked for first, then those that fit what was computed over all pairs of tokens."""
    if walk.heads:
        return [walk.heads]
    pairs = walk.sizes.batch * walk.context.stage("positioned_tokens").shape[1] ** 2
    seen = {
        int(torch.Size(record.shape).numel()) // pairs
        for record in walk.trace.records
        if record.image and int(torch.Size(record.shape).numel()) % pairs == 0
    }
    return list(dict.fromkeys([walk.sizes.heads, *sorted(seen - {0}), 1]))


def _three(one: Projected, packing: str, count: Count) -> Parts:
    return (
        role(one.predict, packing, 3, count, 0),
        role(one.predict, packing, 3, count, 1),
        role(one.predict, packing, 3, count, 2),
    )


def _first_head(part: Predict) -> Predict:
    def predict(context: Context) -> Tensor:
        x = context.of(part)
        return x[:, :1].expand(x.shape)

    return predict


def _packed(maps: Sequence[Projected], heads: int, count: Count) -> Iterator[Heads]:
    for one in maps:
        if one.outputs % (3 * heads):
            continue
        for price, packing in enumerate(PACKINGS):
            unusual = None if packing == "rhd" else _INTERLEAVED
            yield Heads(
                _three(one, packing, count), heads, packing, unusual, price=0.01 * price, maps=(one.map,)
            )
        q, k, v = usual = _three(one, "rhd", count)
        name = "heads-split-without-transpose"
        for order in SCRAMBLED:
            mixed = tuple(scrambled_role(one.predict, 3, count, number, order) for number in range(3))
            heads_of_tokens = (mixed[0], mixed[1], mixed[2])
            yield Heads(heads_of_tokens, heads, "rhd", name, price=1.0, maps=(one.map,), right=usual)
        if heads > 1:
            firsts = (_first_head(q), _first_head(k), _first_head(v))
            yield Heads(firsts, heads, "rhd", "only-first-head-used", "query", 1.0, (one.map,), usual)


def _separate(walk: Walk, maps: Sequence[Projected], heads: int, count: Count) -> Iterator[Heads]:
    same = [one for one in maps if one.outputs % heads == 0]
    for first in range(len(same) - 2):
        three = same[first : first + 3]
        if key_comes_first(walk, three[0].map, three[1].map):
            three = [three[1], three[0], three[2]]
        if len({one.outputs for one in three}) != 1:
            continue
        linears = tuple(one.map for one in three)
        q1, k1, v1 = (SINGLE_CUTS[0][1](one.predict, count) for one in three)
        for price, cut, id in SINGLE_CUTS:
            q, k, v = (cut(one.predict, count) for one in three)
            right = (q1, k1, v1) if id else None
            every = Heads((q, k, v), heads, "separate", id, price=price, maps=linears, right=right)
            yield every
            if right:
                yield from (_of_one(every, right, number) for number in range(3))
    if 1 <= len(same) <= 2:  # a projection serves twice
        parts = [role(one.predict, "rhd", 1, count, 0) for one in same]
        linears = tuple(one.map for one in same)
        yield from _shared(walk, parts, Heads((parts[0],) * 3, heads, "separate", maps=linears))


def _of_one(wrong: Heads, right: Parts, number: int) -> Heads:
    """With one of the three parts alone cut wrongly."""
    q, k, v = (wrong.parts[one] if one == number else right[one] for one in range(3))
    return replace(
        wrong, parts=(q, k, v), blame=("query", "key", "value")[number], price=wrong.price + _ALONE
    )


def _shared(walk: Walk, parts: Sequence[Predict], heads: Heads) -> Iterator[Heads]:
    """``heads`` where one or two ``parts`` play all three roles.

    Of two roles with one map it is the later that should have its own, unless the map is called as that is.
    """
    first, last = parts[0], parts[-1]
    one = replace(heads, price=heads.price + (1.5 if len(parts) == 1 else 1.0))
    ways = [
        ((first, first, last), "query-equals-key", heads.maps[0], ("query", "key")),
        ((first, last, last), "keys-reused-as-values", heads.maps[-1], ("key", "value")),
        ((first, last, first), "query-equals-value", heads.maps[0], ("query", "value")),
    ]
    for played, id, shared, (earlier, later) in ways if len(parts) == 2 else ways[:1]:
        blame = earlier if is_called(walk, shared, later) else later
        yield replace(one, parts=played, id=id, blame=blame)


def _two_and_one(maps: Sequence[Projected], heads: int, count: Count) -> Iterator[Heads]:
    """One map for the query and one for key and value together."""
    for q, kv in permutations(maps, 2):
        if q.outputs % heads or kv.outputs != 2 * q.outputs:
            continue
        for packing in ("rhd", "hrd", "hdr"):
            yield Heads(
                one_and_two(q, kv, packing, count), heads, "two maps", price=0.02, maps=(q.map, kv.map)
            )


def one_and_two(q: Projected, kv: Projected, packing: str, count: Count) -> Parts:
    """The query from one map, key and value from another."""
    return (
        role(q.predict, "rhd", 1, count, 0),
        role(kv.predict, packing, 2, count, 0),
        role(kv.predict, packing, 2, count, 1),
    )


def stacked(parts: Sequence[Predict], cut: Callable[[Tensor], Tensor]) -> Predict:
    """One cut of each head, as B h T d."""
    return lambda context: torch.stack([cut(context.of(one)) for one in parts], 1)


def _first_for_all(walk: Walk, maps: Sequence[Projected]) -> Iterator[Heads]:
    """Three maps of one head, whose results stand for those of all others, unless these may still come."""
    count = walk.sizes.heads
    of_one = list(dict.fromkeys(one for one in maps if one.outputs * count == walk.sizes.embed_dim))
    if len(of_one) == 3 and count > 1 and not walk.is_cut_short:
        q, k, v = (stacked([one.predict] * count, lambda x: x) for one in of_one)
        linears = tuple(one.map for one in of_one)
        yield Heads((q, k, v), count, "per head", "only-first-head-used", "query", 1.0, linears)


def _third(number: int) -> Callable[[Tensor], Tensor]:
    return lambda x: x.chunk(3, -1)[number]


def _per_head(walk: Walk, maps: Sequence[Projected]) -> Iterator[Heads]:
    """A small map a head: all queries first, or query, key and value of one head after another."""
    small = [one for one in maps if one.outputs * 2 <= walk.sizes.embed_dim * 3 // 2]
    for roles in (3, 2, 1) if len({one.outputs for one in small}) == 1 else ():
        count = len(small) // roles
        if count < 2 or len(small) % roles or (roles < 3 and count != walk.sizes.heads):
            continue
        by_role = [small[number * count : (number + 1) * count] for number in range(roles)]
        by_head = [small[number::roles] for number in range(roles)]
        for groups in (by_role, by_head) if roles > 1 else (by_role,):
            if roles == 3 and key_comes_first(walk, groups[0][0].map, groups[1][0].map):
                groups = [groups[1], groups[0], groups[2]]
            parts = [stacked([one.predict for one in group], lambda x: x) for group in groups]
            heads = Heads((parts[0],) * 3, count, "per head", maps=tuple(one.map for one in small))
            if roles < 3:
                yield from _shared(walk, parts, heads)
            else:
                yield replace(heads, parts=(parts[0], parts[1], parts[2]))
    wide = [one for one in maps if one.outputs % 3 == 0]
    if len(wide) >= 2 and len({one.outputs for one in wide}) == 1 and _are_heads(walk, wide):
        q, k, v = (stacked([one.predict for one in wide], _third(number)) for number in range(3))
        yield Heads((q, k, v), len(wide), "per head", maps=tuple(one.map for one in wide))


def _are_heads(walk: Walk, maps: Sequence[Projected]) -> bool:
    """Are there as many as heads, or so wide that each may be one: a part of all features, or all of them?"""
    outputs, all_three = maps[0].outputs, 3 * walk.sizes.embed_dim
    return len(maps) == walk.sizes.heads or all_three in (outputs, outputs * len(maps))


def orders(heads: Heads) -> Iterator[tuple[Heads, str | None]]:
    """Each way to give the three parts their roles, the natural one first, and the id of an unusual one."""
    for order in permutations(range(3)):
        q, k, v = (heads.parts[one] for one in order)
        maps = tuple(heads.maps[one] for one in order) if len(heads.maps) == 3 else heads.maps
        packed = heads.packing in PACKINGS  # separate maps have no order to swap
        unusual = "qkv-order-swapped" if packed and order != (0, 1, 2) else None
        price = heads.price + (0.0 if order == (0, 1, 2) else 0.2)
        right = heads.right and (heads.right[order[0]], heads.right[order[1]], heads.right[order[2]])
        yield replace(heads, parts=(q, k, v), price=price, maps=maps, right=right), unusual


def tensors(heads: Heads, context: Context) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value."""
    q, k, v = map(context.of, heads.parts)
    return q, k, v
