"""A row of a wiring: one tensor, what it is computed from, and its ways, right, wrong and unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial

from ..best_first import AGAIN, Option, later
from ..context import Predict
from ..in_hand import is_in_hand
from ..search.norms import BatchNorm, Norm
from ..search.parameter_search import LinearMap
from ..search.places import Found
from ..steps import Finding, Made
from ..walk import Walk, stage_of
from .graph_tensors import settle_unknown
from .unknown import Unknown, in_single, unknown_price, unknowns

IMPLIED = 0.02  # the price of a right tensor that is in no record, and known by what follows from it
_WRONG_IN_SINGLE = 0.1  # more than what is right there
WRONG = 0.9  # below the price of any known mistake

Player = LinearMap | Norm | BatchNorm


@dataclass(frozen=True)
class Computation:
    """One way in which a row may have been computed."""

    made: Made
    price: float = 0.0
    ids: tuple[str, ...] = ()
    blame: str | None = None
    player: Player | None = None
    may_be_implied: bool = False


@dataclass(frozen=True, kw_only=True)
class Row:
    """One tensor. ``key`` is its stage, or a name of its own where it lies between two stages."""

    key: str
    stage: str = ""  # that is to blame for it, where it is no stage itself
    role: str = ""  # of the parameters that it is computed with
    commits: bool = False  # is all before it certain, once it is found?
    part: str = ""  # what it is of that stage, in words
    in_single: float = 1.1  # the price of digits of float32 alone
    habit: str = ""  # what is wrong in one row of a habit is likely so in the others; "" where it is its own
    handed_on: float = 0.0  # by how much what is unknown is rather this than the tensor that it is
    reads: tuple[str, ...]

    def right(self, walk: Walk) -> Iterator[Computation]:
        """What costs less than a mistake."""
        raise NotImplementedError

    def wrong(self, walk: Walk) -> Iterator[Computation]:
        """Known mistakes."""
        return iter(())

    def again(self, walk: Walk, ids: Collection[str]) -> Iterator[Computation]:
        """Those of the known mistakes that may have these ids."""
        return self.wrong(walk)

    def likely(self, walk: Walk) -> Computation | None:
        """What is right, though the pass does not go on with it; else with what are likely its parameters."""
        found = next((way for way in self.right(walk) if self._found(walk, way) is not None), None)
        guessed = self.guessed(walk) if found is None else None
        return found if guessed is None else Computation(Made(guessed, guessed))

    def guessed(self, walk: Walk) -> Predict | None:
        """What would be right; None where nothing tells."""
        return self.given(walk)[0].right

    def given(self, walk: Walk) -> list[Made]:
        """What it is computed from. What is wrong of another stage is right here: it has been told there."""
        found = [read(walk, one) for one in self.reads]
        own = self.stage or self.key
        return [one if one.stage == own else replace(one, right=one.predict) for one in found]

    def node(self, walk: Walk) -> Iterator[Option]:
        """The ways on, those that cost more only when all that cost less led nowhere."""
        for way in self.right(walk):
            yield from self._options(walk, way)
        if any(one.startswith(self._sign) for one in walk.signs):
            yield later(AGAIN, self._again)
        yield later(WRONG, self._mistakes)
        if not walk.ends_early:
            yield later(self.in_single, self._in_single, f"{self.key}: in float32")
            yield later(unknown_price(walk) - self.handed_on, self._unknown, f"{self._sign}unknown")

    @property
    def _sign(self) -> str:
        return f"{self.habit or self.key}: "

    def _again(self, walk: Walk) -> Iterator[Option]:
        """As in the block before, or in a row of the same habit."""
        known = [one.removeprefix(self._sign) for one in walk.signs if one.startswith(self._sign)]
        for way in self.again(walk, {id for ids in known for id in ids.split()}):
            yield from (one for one in self._options(walk, way) if one.sign in walk.signs)

    def _mistakes(self, walk: Walk) -> Iterator[Option]:
        for way in self.wrong(walk):
            yield from self._options(walk, way, -WRONG)

    def _options(self, walk: Walk, way: Computation, more: float = 0.0) -> Iterator[Option]:
        price = way.price + more
        sign = self._sign + " ".join(way.ids) if way.ids else ""
        yield Option(price, lambda walk: self._take(walk, way), sign=sign)
        if way.may_be_implied:
            yield Option(price + IMPLIED, lambda walk: self._imply(walk, way), sign=sign)

    def _take(self, walk: Walk, way: Computation) -> bool:
        found = self._found(walk, way)
        if found is not None:
            self.settle(walk, way, found)
            walk.sure = self.commits and found.record > way.made.began  # and is no older tensor
        elif is_in_hand(walk, way.made.predict(walk.context)):
            self.settle(walk, way, None)
        else:
            return False
        return True

    def _found(self, walk: Walk, way: Computation) -> Found | None:
        """Where its tensor is, behind what it is made of."""
        return walk.places.find(way.made.predict(walk.context), way.made.began - 1)

    def _imply(self, walk: Walk, way: Computation) -> bool:
        """Settles what is in no record; in vain where it is in one."""
        if self._found(walk, way) is not None:
            return False
        self.settle(walk, way, None)
        return True

    def settle(self, walk: Walk, way: Computation, found: Found | None) -> None:
        """As a step, or as what lies between two."""
        self._play(walk, way.player)
        # what is handed on is an older tensor, and what is made of it is none
        began = way.made.began if found is None else max(way.made.began, found.first)
        if self.stage:
            walk.make(self.key, replace(way.made, began=began, stage=self.stage))
            record = None if found is None else found.record
            walk.owed += tuple(Finding(one, self.stage, record) for one in way.ids)
            return
        number, predict = walk.number, way.made.predict
        owed = walk.paid(self.key)
        right, blame = way.made.right, way.blame
        if self.key in walk.told:
            walk.settle(self.key, number, predict, found, right=right)
            walk.tell(len(walk.steps) - 1)
        else:
            walk.settle(self.key, number, predict, found, right=right, ids=way.ids, blame=blame)
            walk.steps[-1] = replace(walk.steps[-1], findings=(*owed, *walk.steps[-1].findings))
        walk.began[self.key, number] = began

    def settle_unknown(self, walk: Walk, made: Made, unknown: Unknown, player: Player | None = None) -> bool:
        """The student's own tensor, whatever it is made of the right one."""
        self._play(walk, player)
        if unknown.made_up:
            self.settle(walk, Computation(made, ids=("stage-made-up",)), None)
        elif self.stage:
            walk.make(self.key, replace(made, stage=self.stage))
            walk.told[self.stage] = unknown.told, unknown.taken.record
        else:
            settle_unknown(walk, self.key, walk.number, made.predict, made.right, unknown.told)
        return True

    def _unknown(self, walk: Walk) -> Iterator[Option]:
        """The student's tensor as the pass has it, where no known equation gives it."""
        likely = self.likely(walk)
        if likely is not None:
            right = likely.made.right
            for one in unknowns(walk, self.stage or self.key, right, self.part):
                yield self._option_of(one, Made(one.predict, right), likely.player)

    def _in_single(self, walk: Walk) -> Iterator[Option]:
        """What is right, or a known mistake, but for the digits that float32 lacks."""
        likely = self.likely(walk)
        if likely is None:
            return
        right = likely.made.right
        ways = [Computation(Made(right, right)), *self.wrong_in_single(walk)]
        for number, predict in in_single(walk, [one.made.predict for one in ways]):
            way = ways[number]
            made = Made(predict, way.made.right if way.ids else predict, walk.position)
            price = _WRONG_IN_SINGLE if way.ids else 0.0
            yield Option(price, partial(self._settle_in_single, way=replace(way, made=made)))

    def wrong_in_single(self, walk: Walk) -> Iterator[Computation]:
        """The known mistakes that are told apart by as many digits as float32 has."""
        return iter(())

    def _settle_in_single(self, walk: Walk, way: Computation) -> bool:
        self.settle(walk, way, walk.find(way.made.predict(walk.context)))
        walk.single = True
        return True

    def _option_of(self, unknown: Unknown, made: Made, player: Player | None = None) -> Option:
        return Option(unknown.price, lambda walk: self.settle_unknown(walk, made, unknown, player))

    def _play(self, walk: Walk, player: Player | None) -> None:
        if player is not None and self.role:
            walk.roles[f"block{walk.number}.{self.role}"] = player


def read(walk: Walk, name: str) -> Made:
    """A stage of this block, or one outside of blocks, or what lies between."""
    if name in walk.made:
        return walk.made[name]
    number = walk.number if (name, walk.number) in walk.context.stages else 0
    return Made(stage_of(name, number), stage_of(name, number), walk.began.get((name, number), 0))


def is_there(walk: Walk, name: str) -> bool:
    """Has this kind of block such a tensor?"""
    return name in walk.made or (name, walk.number) in walk.context.stages
