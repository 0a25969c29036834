"""S09 to S11 where the pass ends for want of code before attention has all three, or right behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from ..best_first import Option, nowhere
from ..context import Predict
from ..in_hand import is_looked_at
from ..search.places import Found
from ..steps import Finding
from ..walk import Walk
from .cutting import SINGLE_CUTS
from .naming import is_called
from .projections import Projected, head_count, stacked

_NAMES = ("query", "key", "value")
_POWERS = (-0.5, -0.25)  # of a head's width, by which queries and keys are scaled before they meet


@dataclass(frozen=True)
class _Part:
    """What is one of the three, of these maps, and what would be right of the same."""

    maps: Sequence[Projected]
    predict: Predict
    right: Predict


def is_used(walk: Walk, tensor: Tensor, name: str) -> bool:
    """Has the pass looked at this query, key or value, or at a multiple of it as scores may be made of?"""
    powers = () if name == "value" else _POWERS
    return any(is_looked_at(walk, tensor * tensor.shape[-1] ** power) for power in (0, *powers))


def begun(walk: Walk, maps: Sequence[Projected]) -> Iterator[Option]:
    """One or two of the three, each of maps of its own, where the others are still to come."""
    count = head_count(walk, walk.sizes.heads)
    if len(maps) in (1, 2) and all(one.outputs == walk.sizes.embed_dim for one in maps):
        for price, cut, id in SINGLE_CUTS:
            right = SINGLE_CUTS[0][1]
            parts = [_Part([one], cut(one.predict, count), right(one.predict, count)) for one in maps]
            yield _option(walk, parts, price, id)
    for groups in _per_head(walk, maps):
        stacks = [(group, stacked([one.predict for one in group], lambda x: x)) for group in groups]
        yield _option(walk, [_Part(group, stack, stack) for group, stack in stacks], 0.0)


def _per_head(walk: Walk, maps: Sequence[Projected]) -> Iterator[Sequence[Sequence[Projected]]]:
    """A small map a head: all queries first, or query and key of one head after another."""
    heads = walk.sizes.heads
    small = [one for one in maps if one.outputs * heads == walk.sizes.embed_dim]
    if heads > 1 and len(small) == len(maps) and len(small) in (heads, 2 * heads):
        roles = len(small) // heads
        yield [small[number * heads : (number + 1) * heads] for number in range(roles)]
        if roles > 1:
            yield [small[number::roles] for number in range(roles)]


def _option(walk: Walk, parts: Sequence[_Part], price: float, id: str | None = None) -> Option:
    called = {name: one for name in _NAMES for one in parts if is_called(walk, one.maps[0].map, name)}
    unnamed = (one for one in parts if one not in called.values())
    called |= dict(zip([name for name in _NAMES if name not in called], unnamed, strict=False))
    ordered = {name: called[name] for name in _NAMES if name in called}
    meets = {"query", "key"} <= ordered.keys()
    take = partial(_settle, parts=ordered, id=id, all_of=len(parts))
    return Option(price, take, () if meets else (nowhere,))


def _settle(walk: Walk, parts: dict[str, _Part], id: str | None, all_of: int) -> bool:
    at, owed, start = len(walk.steps), walk.paid("query"), walk.position - 1
    for name, one in parts.items():
        tensor = walk.context.of(one.predict)
        if len(one.maps) == 1 and not is_used(walk, tensor, name):
            return False
        found: Found | None = walk.find(tensor, start)
        right, ids = (one.right, [id]) if id else (one.predict, [])
        walk.settle(name, walk.number, one.predict, found, right=right, ids=ids)
    pay(walk, owed, at)
    walk.ahead = next((name for name in _NAMES if name not in parts), _NAMES[-1]), walk.number
    return len(parts) == all_of


def pay(walk: Walk, owed: Sequence[Finding], at: int) -> None:
    """Says what was owed to a stage at its step."""
    for one in owed:
        walk.note_at(at, one.id, one.stage, one.record)
