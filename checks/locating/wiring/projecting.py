"""S09 to S11 as one row: what is projected is cut into query, key and value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from torch import Tensor

from ..best_first import UNKNOWN, Option, later
from ..comparing import equal
from ..context import Predict
from ..search.places import Found
from ..walk import Walk, applied
from .begun import begun, is_used, pay
from .cutting import PACKINGS
from .heads import Heads
from .implied import implied_attention
from .made_up import blame_drawn, drawn_heads
from .meeting import attending, is_part, is_turned
from .projections import arrangements, orders, projected, tensors
from .roles import about_maps
from .rows import WRONG, Row, read
from .unknown import Unknown, unknowns
from .wrong_projections import one_raw, raw_keys, shared_slices, unprojected_values

_MERGED = 0.4
_UNSEEN = 0.25  # the price of queries, keys and values of which nothing is seen to be made
_TRIED_UNSEEN = 3
_LOOKED_AT = 0.05  # of those that a pass was about to use when it ended
_TWICE = 0.3  # the price of two linear maps in a row
# the price of scores that lie in memory as they would if keys and queries were exchanged: which is which says
# the order in which they are packed, but not that in which maps of their own are used
_TURNED = 0.3
_TURNED_BACK = 0.9  # the same beside an unusual order, which is the usual one then
_ODD = 0.5  # the price of what may still be explained otherwise
_MAY_BE_ONE_MAP = ("patches", "flattened_patches")  # where a convolution makes tokens of pixels


@dataclass(frozen=True, kw_only=True)
class ProjectionsRow(Row):
    """Query, key and value of all heads, from maps of what it reads."""

    def node(self, walk: Walk) -> Iterator[Option]:
        yield Option(0.0, self._is_projected, (self._ways,))

    def _is_projected(self, walk: Walk) -> bool:
        """What the first block's maps read is certain where all are seen, and hardly anything is odd."""
        normed = self.given(walk)[0]
        maps = projected(walk, normed.predict, normed.began - 1) if walk.number == 1 else []
        seen = sum(one.outputs for one in maps) >= 3 * walk.sizes.embed_dim
        walk.sure = seen and (walk.price - walk.certain < _ODD or _is_seen(walk))
        return True

    def _ways(self, walk: Walk) -> Iterator[Option]:
        every = list(self._cuts(walk))
        usual = [one for one in every if one.price < WRONG]
        unusual = [one for one in every if one.price >= WRONG]
        yield from self._ordered(usual)
        if any(one.startswith("heads: ") for one in walk.signs):
            again = list(self._ordered(unusual))
            yield from (one for one in again if one.sign in walk.signs)
        yield later(_TWICE, self._projected_twice)
        yield later(_MERGED, self._merged)
        if walk.is_cut_short:
            yield later(_LOOKED_AT, partial(self._at_an_end, cuts=every))
        yield later(_UNSEEN, partial(self._unseen, cuts=usual), "heads: never seen to attend")
        if not walk.ends_early and usual:
            yield later(UNKNOWN - 0.1, partial(self._replaced, heads=usual[0]), "heads: unknown")
        if not walk.ends_early:
            yield later(UNKNOWN - 0.1, self._drawn)
        yield later(WRONG, lambda _: self._ordered(unusual, -WRONG))

    def _ordered(self, cuts: list[Heads], more: float = 0.0) -> Iterator[Option]:
        """Of many ways to cut what was projected, those of which attention is somewhere."""
        for cut in cuts:
            for heads, order in orders(cut):
                sign = f"heads: {heads.packing} {heads.id} {order}" if heads.id or order else ""
                take = partial(_settle_attending, heads=heads, order=order)
                turned = _TURNED_BACK if order else _TURNED * (cut.packing not in PACKINGS)
                yield Option(heads.price + more, take, sign=sign)
                yield Option(heads.price + more + turned, partial(take, turned=True), sign=sign)

    def _projected_twice(self, walk: Walk) -> Iterator[Option]:
        yield from self._ordered(self._twice(walk))

    def _twice(self, walk: Walk) -> list[Heads]:
        """Maps of what other maps have made, with nothing between them: one could do as much."""
        normed = self.given(walk)[0]
        first = projected(walk, normed.predict, normed.began - 1)
        again = [two for one in first for two in projected(walk, one.predict, normed.began - 1)]
        cuts = [one for one in arrangements(walk, again) if one.id is None] if again else []
        before = tuple(one.map for one in first)
        return [replace(one, id="projected-twice", before=before) for one in cuts]

    def _unseen(self, walk: Walk, cuts: list[Heads]) -> Iterator[Option]:
        """The first ways to cut it: there is nothing to tell them from others."""
        yield from (Option(cut.price, partial(_settle_unseen, heads=cut)) for cut in cuts[:_TRIED_UNSEEN])

    def _at_an_end(self, walk: Walk, cuts: list[Heads]) -> Iterator[Option]:
        """Those that were looked at, where the pass ends before they meet, and fewer where no more are."""
        normed = self.given(walk)[0]
        yield from begun(walk, projected(walk, normed.predict, normed.began - 1))
        cuts = [*cuts, *(replace(one, price=one.price + _TWICE) for one in self._twice(walk))]
        split = (one for one in cuts if one.heads == walk.sizes.heads)  # else they are still to be
        yield from (Option(cut.price, partial(_settle_looked_at, heads=cut)) for cut in split)

    def _merged(self, walk: Walk) -> Iterator[Option]:
        """Where weights were multiplied before the image met them, and some of the three are no tensors."""
        normed = self.given(walk)[0]
        x = read(walk, "block_input").predict
        attention = implied_attention(walk, x, normed.predict, normed.began - 1)
        if attention is not None:
            yield Option(0.0, partial(_settle, heads=attention))

    def _replaced(self, walk: Walk, heads: Heads) -> Iterator[Option]:
        """The usual three, of which the pass goes on with something else in the place of one."""
        for number, key in enumerate(("query", "key", "value")):
            for unknown in unknowns(walk, key, heads.parts[number]):
                yield Option(
                    unknown.price, partial(_settle_replaced, heads=heads, number=number, unknown=unknown)
                )

    def _drawn(self, walk: Walk) -> Iterator[Option]:
        """Random numbers in the place of all three."""
        heads = drawn_heads(walk)
        if heads is not None:
            yield Option(0.0, lambda one: _settle(one, heads) and _blamed(one))

    def _cuts(self, walk: Walk) -> Iterator[Heads]:
        normed: Predict = self.given(walk)[0].predict
        after = self.given(walk)[0].began - 1
        maps = projected(walk, normed, after)
        is_wrong = "query" in walk.told or any(one.stage == "query" for one in walk.owed)
        if maps and is_wrong:  # what would be right of the right norm, which is said of S09 alone
            right = self.given(walk)[0].right
            others = arrangements(walk, [replace(one, predict=applied(one.map, right)) for one in maps])
            for heads, other in zip(arrangements(walk, maps), others, strict=False):
                yield replace(heads, right=(other.parts[0], *heads.parts[1:]))
        elif maps:
            yield from arrangements(walk, maps)
        x = read(walk, "block_input").predict
        yield from shared_slices(walk, normed, after)
        yield from unprojected_values(walk, maps, normed)
        yield from raw_keys(walk, maps, x, normed, after)
        yield from one_raw(walk, maps, x, normed, after)


def _is_seen(walk: Walk) -> bool:
    """Is every tensor that led here in the trace, as the equations with at most one known mistake give it?"""
    without = {key for id in walk.ids for key in walk.family.mistake(id).without}
    made = [one for one in walk.steps if one.key not in without.union(_MAY_BE_ONE_MAP)]
    is_seen = all(one.found is not None and one.explained for one in made)
    return bool(walk.ids) and len(walk.errors) <= 1 and not walk.told and is_seen


def _settle_replaced(walk: Walk, heads: Heads, number: int, unknown: Unknown) -> bool:
    """All three, and the unknown one in the place of the right one."""
    if not _settle(walk, heads):
        return False
    at, predict = len(walk.steps) - 3 + number, unknown.predict
    step, tensor = walk.steps[at], predict(walk.context)
    if unknown.made_up:
        walk.steps[at] = replace(step, predict=predict, found=None)
        walk.note_at(at, "stage-made-up", step.key, unknown.taken.record)
    else:
        found = walk.places.find(tensor)
        walk.steps[at] = replace(step, predict=predict, found=found, explained=False, message=unknown.told)
    walk.context.settle(step.key, step.block, tensor)
    return True


def _blamed(walk: Walk) -> bool:
    blame_drawn(walk, walk.number)
    walk.look_everywhere()
    return True


def _settle_attending(walk: Walk, heads: Heads, order: str | None, turned: bool = False) -> bool:
    found = attending(walk, heads)
    if found is None or turned != is_turned(found) or not _settle(walk, heads, order):
        return False
    began = walk.began.get(("block_input", walk.number), 0)
    # and is of no block before, and no part of what is larger
    if found.record > began and not is_part(walk, found):
        walk.met = walk.price
        walk.sure = walk.price - walk.certain < WRONG  # nothing odd was taken to come here
    return True


def _settle_three(walk: Walk, heads: Heads) -> None:
    walk.heads, walk.packing = heads.heads, heads.packing
    start, seen = walk.position - 1, dict[Predict, int]()
    for number, map_ in enumerate((*heads.maps, *heads.before)):
        walk.roles[f"block{walk.number}.projection{number}"] = map_
    for number, name in enumerate(("query", "key", "value")):
        predict = heads.parts[number]
        right = heads.right[number] if heads.right else predict
        tensor = walk.context.of(predict)
        is_wrong = heads.id and (name == heads.blame or not equal(tensor, walk.context.of(right)))
        ids = [heads.id] if heads.id and is_wrong else []
        found = _again(walk, tensor, seen[predict]) if predict in seen else None  # serves twice
        found = found or walk.find(tensor, start)
        seen[predict] = start if found is None else found.record
        walk.settle(name, walk.number, predict, found, right=right, ids=ids)
    about_maps(walk, heads)


def _again(walk: Walk, tensor: Tensor, first: int) -> Found | None:
    """Where it is computed once more, and not from what was found at first, as by a bias of zeros."""
    found = walk.find(tensor, first)
    while found and first in walk.trace.ancestors(walk.trace.records[found.record].reference):
        found = walk.find(tensor, found.record)
    return found


def _settle_looked_at(walk: Walk, heads: Heads) -> bool:
    """Those three, if the pass looked at each of them."""
    named = zip(("query", "key", "value"), tensors(heads, walk.context), strict=True)
    return all(is_used(walk, one, name) for name, one in named) and _settle(walk, heads)


def _settle_unseen(walk: Walk, heads: Heads) -> bool:
    """Those three, which only what follows can show where the pass may have ended before."""
    query = walk.context.of(heads.parts[0])
    if walk.is_cut_short and query.shape[1] * query.shape[-1] != walk.sizes.embed_dim:
        return False  # what there is may be of one head
    settled = _settle(walk, heads)
    walk.assumed = settled and walk.is_cut_short
    return settled


def _settle(walk: Walk, heads: Heads, order: str | None = None) -> bool:
    q, k, v = map(walk.context.of, heads.parts)
    if not q.shape == k.shape == v.shape:
        return False
    owed = walk.paid("query")
    at, position = len(walk.steps), walk.position
    _settle_three(walk, heads)
    walk.position = position  # scores may be computed before values are
    pay(walk, owed, at)
    if order:
        walk.note_at(at, order, "query")
    if "query" in walk.told:
        walk.tell(at)
    return True
