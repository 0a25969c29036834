"""The cheapest explanation of a pass: a best-first search over the ways in which each tensor may be made.

A way that the catalogue calls right costs nothing, a known mistake about 1, what nothing known explains more.
A way that leads nowhere is given up for the next cheapest, wherever that branches off. What two ways lead to
is looked at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf

from .accounting import accounted, to_account_for
from .walk import Walk

UNKNOWN = 1.5  # the price of what no known equation gives: more than of any one known mistake
AGAIN = 0.001  # the price of what was done in the same way in the block before

# of torch and numpy, where sizes do not go together, and of a stage that is not there
MISFITS = (RuntimeError, LookupError, ValueError)
_WORTH = 3  # tensors that a known mistake has to explain
_WORTH_AT_AN_END = 0.9  # and of a pass that is cut short, records that it accounts for beside the others


@dataclass(frozen=True)
class Option:
    """One way on.

    ``take`` settles it on a walk of its own, and is False where the pass does not show it. ``then`` comes
    before all that was planned. ``sign`` tells a wrong way that is repeated in every block. Where
    ``take`` makes the walk ``sure``, what came before is certain, unless it holds something unknown, and only
    ways from there on are left. One that reads the same tensors otherwise ``stays`` beside them.
    """

    price: float
    take: Callable[[Walk], bool]
    then: tuple[Node, ...] = ()
    sign: str = ""
    stays: bool = False

    def before(self, *nodes: Node) -> Option:
        """The same, with these after all that it brings with it."""
        return replace(self, then=(*self.then, *nodes))


Node = Callable[[Walk], Iterable[Option]]  # the ways on from where a walk stands


def later(price: float, node: Node, sign: str = "") -> Option:
    """What ``node`` gives, looked at only when all that costs less than ``price`` led nowhere."""
    return Option(price, lambda _: True, (node,), sign)


def nowhere(walk: Walk) -> Iterator[Option]:
    """Behind what a pass ends with."""
    return iter(())


def explain(walk: Walk, nodes: tuple[Node, ...]) -> tuple[Walk, bool]:
    """The walk along the cheapest way through all nodes, and True; else the one that came farthest."""
    patience = walk.patience
    queue: list[tuple[float, int, int, Walk, Option, tuple[Node, ...]]] = []
    numbers, farthest, most = count(), walk, walk.places.look_ups + patience.look_ups
    came, bound = _came(walk), _bound(walk)
    seen: set[object] = set()

    def plan(at: Walk, price: float, depth: int, agenda: tuple[Node, ...]) -> None:
        for option in _ways(agenda[0], at):
            more = AGAIN if option.sign in at.signs else option.price
            since = max(at.certain, at.met)
            if price + more - since < patience.price and price + more < patience.most:
                heappush(queue, (price + more, -depth, next(numbers), at, option, agenda[1:]))

    plan(walk, 0.0, 0, nodes)
    while queue and walk.places.look_ups < most and came[0] <= bound - _WORTH_AT_AN_END * queue[0][0]:
        price, depth, _, at, option, rest = heappop(queue)
        one = at.forked()
        if not done(option.take, one) or not all(map(patience.admits, one.steps[len(at.steps) :])):
            continue
        one.price = price
        if one.sure and price - at.certain < UNKNOWN:
            queue[:] = [one for one in queue if one[4].stays or len(one[3].steps) >= len(at.steps)]
            heapify(queue)
        if one.sure:
            one.certain, one.sure = price, False
        if option.sign:
            one.signs |= {option.sign}
        if (far := _came(one)) > came:
            farthest, came, most = one, far, walk.places.look_ups + patience.look_ups
        if not (agenda := (*option.then, *rest)):
            return one, True
        state = (agenda, one.state) if price else None  # what costs nothing has no other way to it
        if state is None or state not in seen:
            seen.add(state)
            plan(one, price, 1 - depth, agenda)
    return farthest, False


def _came(walk: Walk) -> tuple[float, int]:
    """How far: by tensors that were found, then by steps. A mistake has to explain some more of them."""
    made = sum(one.found is not None and one.key != "block_input" for one in walk.steps)
    if walk.is_cut_short:
        price = _WORTH_AT_AN_END * (walk.price + walk.assumed)
        return accounted(walk) + made * AGAIN - price, len(walk.steps)
    return made - _WORTH * walk.price, len(walk.steps)


def _bound(walk: Walk) -> float:
    """How far what costs nothing may come; what costs more comes less far."""
    if not walk.is_cut_short:
        return inf
    return to_account_for(walk) + len(walk.family.stages) * AGAIN * max(walk.sizes.depth, 1)


def _ways(node: Node, walk: Walk) -> Iterator[Option]:
    """The ways on, as far as sizes go together: what was explained so far may be wrong."""
    with suppress(*MISFITS):
        yield from node(walk)


def done(take: Callable[[Walk], bool], walk: Walk) -> bool:
    """Is that what was done? Not where sizes do not go together."""
    try:
        return take(walk)
    except MISFITS:
        return False
