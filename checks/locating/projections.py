"""S09 to S11: which linear maps of the block's normed input are query, key and value, and how they are packed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import torch
from torch import Tensor

from .context import Context, Predict
from .parameters import Linear
from .places import Found
from .walk import Walk, applied

# How a width of several packed tensors is cut: r roles (query, key, value), h heads, d features.
_PACKINGS = ("rhd", "hrd", "hdr", "rdh", "drh", "dhr")


@dataclass(frozen=True)
class Projected:
    """One linear map of the block's normed input, and its result."""

    map: Linear
    predict: Predict
    found: Found
    outputs: int


@dataclass(frozen=True)
class Heads:
    """One way to see query, key and value (in that order) in what was projected, each B h T d."""

    parts: tuple[Predict, ...]
    found: tuple[Found, ...]
    heads: int
    packing: str  # "separate", "per head", or one of the packings
    id: str | None = None  # of a wrong way
    price: float = 0.0
    maps: tuple[Linear, ...] = ()


def projected(walk: Walk, x: Predict, after: int) -> list[Projected]:
    """Every linear map of ``x`` whose result is in the trace, in order of use."""
    tensor = x(walk.context)
    found = []
    for map_, result, place in walk.parameters.linears(tensor, after):
        found.append(Projected(map_, applied(map_, x), place, result.shape[-1]))
    return found


def unpack(tensor: Tensor, packing: str, roles: int, heads: int) -> Tensor:
    """From B T (packed) to role B h T d."""
    sizes = {"r": roles, "h": heads, "d": tensor.shape[-1] // (roles * heads)}
    cut = tensor.reshape(*tensor.shape[:2], *(sizes[letter] for letter in packing))
    return cut.permute(*(2 + packing.index("r"),), 0, 2 + packing.index("h"), 1, 2 + packing.index("d"))


def _scrambled(tensor: Tensor, roles: int, heads: int) -> Tensor:
    """Heads cut by a view of tokens and features together."""
    B, T = tensor.shape[:2]
    return torch.stack([one.reshape(B, heads, T, -1) for one in tensor.chunk(roles, -1)])


def arrangements(walk: Walk, maps: Sequence[Projected]) -> Iterator[Heads]:
    """Ways to see query, key and value in ``maps``, the usual ones first."""
    yield from _per_head(walk, maps)
    for heads in _head_counts(walk):
        for found in (*_packed(maps, heads), *_separate(maps, heads), *_two_and_one(maps, heads)):
            if heads == 1 and walk.sizes.heads > 1:
                yield replace(found, id="num-heads-ignored", price=found.price + 1.0)
            else:
                yield replace(found, price=found.price + (0.0 if heads == walk.sizes.heads else 0.3))


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


def _role(tensor: Predict, packing: str, roles: int, heads: int, role: int) -> Predict:
    return lambda context: unpack(tensor(context), packing, roles, heads)[role]


def _scrambled_role(tensor: Predict, roles: int, heads: int, role: int) -> Predict:
    return lambda context: _scrambled(tensor(context), roles, heads)[role]


def _packed(maps: Sequence[Projected], heads: int) -> Iterator[Heads]:
    for one in maps:
        if one.outputs % (3 * heads):
            continue
        for price, packing in enumerate(_PACKINGS):
            parts = tuple(_role(one.predict, packing, 3, heads, role) for role in range(3))
            id = None if packing == "rhd" else "qkv-interleaved-layout"
            yield Heads(parts, (one.found,) * 3, heads, packing, id, 0.01 * price, (one.map,))
        parts = tuple(_scrambled_role(one.predict, 3, heads, role) for role in range(3))
        yield Heads(parts, (one.found,) * 3, heads, "rhd", "heads-split-without-transpose", 1.0, (one.map,))


def _separate(maps: Sequence[Projected], heads: int) -> Iterator[Heads]:
    same = [one for one in maps if one.outputs % heads == 0]
    for first in range(len(same) - 2):
        three = same[first : first + 3]
        if len({one.outputs for one in three}) != 1:
            continue
        found, linears = tuple(one.found for one in three), tuple(one.map for one in three)
        for packing, price in (("rhd", 0.0), ("rdh", 0.05)):
            parts = tuple(_role(one.predict, packing, 1, heads, 0) for one in three)
            yield Heads(parts, found, heads, "separate", None, price, linears)
        parts = tuple(_scrambled_role(one.predict, 1, heads, 0) for one in three)
        yield Heads(parts, found, heads, "separate", "heads-split-without-transpose", 1.0, linears)
    if 1 <= len(same) <= 2:  # a projection serves twice
        yield from _shared(same, heads)


def _shared(maps: Sequence[Projected], heads: int) -> Iterator[Heads]:
    parts = [_role(one.predict, "rhd", 1, heads, 0) for one in maps]
    linears = tuple(one.map for one in maps)
    if len(maps) == 1:
        yield Heads(tuple(parts * 3), (maps[0].found,) * 3, heads, "separate", "query-equals-key", 1.5, linears)
        return
    for q, k, v, id in ((0, 0, 1, "query-equals-key"), (0, 1, 1, "keys-reused-as-values")):
        found = tuple(maps[one].found for one in (q, k, v))
        yield Heads((parts[q], parts[k], parts[v]), found, heads, "separate", id, 1.0, linears)


def _two_and_one(maps: Sequence[Projected], heads: int) -> Iterator[Heads]:
    """One map for the query and one for key and value together."""
    for q, kv in permutations(maps, 2):
        if q.outputs % heads or kv.outputs != 2 * q.outputs:
            continue
        for packing in ("rhd", "hrd", "hdr"):
            parts = (
                _role(q.predict, "rhd", 1, heads, 0),
                _role(kv.predict, packing, 2, heads, 0),
                _role(kv.predict, packing, 2, heads, 1),
            )
            yield Heads(parts, (q.found, kv.found, kv.found), heads, "two maps", None, 0.02, (q.map, kv.map))


def _stacked(parts: Sequence[Predict], cut: Callable[[Tensor], Tensor]) -> Predict:
    return lambda context: torch.stack([cut(one(context)) for one in parts], 1)


def _per_head(walk: Walk, maps: Sequence[Projected]) -> Iterator[Heads]:
    """A small map a head: all queries first, or query, key and value of one head after another."""
    small = [one for one in maps if one.outputs * 2 <= walk.sizes.embed_dim * 3 // 2]
    linears = tuple(one.map for one in small)
    count = len(small) // 3
    if count >= 2 and len(small) % 3 == 0 and len({one.outputs for one in small}) == 1:
        by_role = [small[role * count : (role + 1) * count] for role in range(3)]
        by_head = [small[role::3] for role in range(3)]
        for groups in (by_role, by_head):
            parts = tuple(_stacked([one.predict for one in group], lambda x: x) for group in groups)
            found = tuple(max((one.found for one in group), key=lambda place: place.record) for group in groups)
            yield Heads(parts, found, count, "per head", None, 0.0, linears)
    wide = [one for one in maps if one.outputs % 3 == 0]
    if len(wide) >= 2 and len({one.outputs for one in wide}) == 1:
        parts = tuple(
            _stacked([one.predict for one in wide], lambda x, role=role: x.chunk(3, -1)[role])  # type: ignore[misc]  # lambda default
            for role in range(3)
        )
        yield Heads(parts, (wide[-1].found,) * 3, len(wide), "per head", None, 0.0, tuple(one.map for one in wide))


def orders(heads: Heads) -> Iterator[tuple[Heads, str | None]]:
    """Each way to give the three parts their roles, the natural one first, with the id of an unusual order."""
    for order in permutations(range(3)):
        parts = tuple(heads.parts[one] for one in order)
        found = tuple(heads.found[one] for one in order)
        packed = heads.packing in _PACKINGS  # separate maps have no order to swap
        id = "qkv-order-swapped" if packed and order != (0, 1, 2) else None
        price = heads.price + (0.0 if order == (0, 1, 2) else 0.2)
        yield Heads(parts, found, heads.heads, heads.packing, heads.id, price, heads.maps), id


def tensors(heads: Heads, context: Context) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = (one(context) for one in heads.parts)
    return q, k, v


def shared_slices(walk: Walk, x: Predict, after: int) -> list[Heads]:
    """Heads that each project their own slice of the width, by one small map for all of them."""
    heads = walk.sizes.heads
    if x(walk.context).shape[-1] % heads:
        return []
    sliced: Predict = lambda context: x(context).unflatten(-1, (heads, -1))
    maps = [
        applied(map_, sliced)
        for map_, result, _ in walk.parameters.linears(sliced(walk.context), after)
        if result.shape[-1] == sliced(walk.context).shape[-1]
    ]
    if len(maps) < 3:
        return []
    parts = tuple(_heads_first(one) for one in maps[:3])
    found = walk.find(parts[0](walk.context), after)
    return [] if found is None else [Heads(parts, (found,) * 3, heads, "separate", "heads-share-projection", 1.0)]


def _heads_first(x: Predict) -> Predict:
    return lambda context: x(context).transpose(1, 2)


def unprojected_values(walk: Walk, maps: Sequence[Projected], x: Predict) -> list[Heads]:
    """Query and key projected, and the value a slice of the input itself."""
    heads, width = walk.sizes.heads, x(walk.context).shape[-1]
    if width % heads:
        return []
    value: Predict = lambda context: unpack(x(context), "rhd", 1, heads)[0]
    pairs: list[tuple[Predict, Predict, Found]] = []
    if len(maps) == 2 and all(one.outputs == width for one in maps):
        pairs.append((_role(maps[0].predict, "rhd", 1, heads, 0), _role(maps[1].predict, "rhd", 1, heads, 0), maps[1].found))
    if len(maps) == 1 and maps[0].outputs == 2 * width:
        pairs.append((_role(maps[0].predict, "rhd", 2, heads, 0), _role(maps[0].predict, "rhd", 2, heads, 1), maps[0].found))
    return [Heads((q, k, value), (found,) * 3, heads, "separate", "values-not-projected", 1.0) for q, k, found in pairs]
