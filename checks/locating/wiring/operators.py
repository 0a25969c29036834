"""The operators of rows: handed on, normed, mapped, or computed in one of the forms of a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

from ....submissions.host.trace import Use
from ..best_first import UNKNOWN, Option
from ..context import Predict
from ..forms import NORMS, Form
from ..search.origins import origin
from ..search.parameter_search import LinearMap
from ..steps import Made
from ..walk import Walk, applied, combine, right_of
from .graph_tensors import likely_map, likely_norm
from .rows import IMPLIED, WRONG, Computation, Row, is_there, read
from .unknown import unknowns


@dataclass(frozen=True, kw_only=True)
class SameRow(Row):
    """What it reads, handed on. ``others`` are what is handed on by mistake: key and id."""

    others: tuple[tuple[str, str], ...] = ()
    handed_on: float = 0.01

    def right(self, walk: Walk) -> Iterator[Computation]:
        yield Computation(self.given(walk)[0])

    def wrong(self, walk: Walk) -> Iterator[Computation]:
        right = self.given(walk)[0].right
        for key, id in self.others:
            if is_there(walk, key):
                other = read(walk, key)
                yield Computation(Made(other.predict, right, other.began), 1.0, (id,))

    def _take(self, walk: Walk, way: Computation) -> bool:
        self.settle(walk, way, walk.places.find(way.made.predict(walk.context)))
        return True


@dataclass(frozen=True, kw_only=True)
class OpenRow(SameRow):
    """What it reads, with no norm after it; ``normed`` is the id of one that is used in several places."""

    normed: str = ""
    handed_on: float = 0.005

    def wrong(self, walk: Walk) -> Iterator[Computation]:
        x = self.given(walk)[0]
        if walk.blocks and self.normed not in walk.ids:
            return  # it would have been used in the blocks before
        for norm, _, _ in walk.parameters.norms(x.predict(walk.context), x.began - 1):
            if walk.parameters.times_used(norm) > 1:
                made = Made(applied(norm, x.predict), x.right, x.began)
                yield Computation(made, WRONG, (self.normed,), player=norm)


UNKNOWN_NORM = "norm: unknown"
_SCALED_WITHIN = 8  # records between a tensor and the use of the vector that it is multiplied by


@dataclass(frozen=True, kw_only=True)
class NormRow(Row):
    """A LayerNorm of what it reads. ``skipped`` is the id where there is none."""

    habit: str = "norm"
    in_single: float = UNKNOWN  # norms of a tensor and of its multiples are nearly alike
    skipped: str = ""
    others: tuple[tuple[str, str], ...] = ()  # what is normed by mistake: key and id

    def right(self, walk: Walk) -> Iterator[Computation]:
        yield from self._norms(walk, self.given(walk)[0], NORMS[:1])

    def wrong(self, walk: Walk) -> Iterator[Computation]:
        x = self.given(walk)[0]
        for key, id in (one for one in self.others if is_there(walk, one[0])):
            for way in self._norms(walk, replace(read(walk, key), right=x.right), NORMS[:1]):
                yield replace(way, price=0.9 + way.price, ids=(id, *way.ids))
        if self.skipped:
            odd = f"block{walk.blocks}.{self.role}" in walk.roles  # in this block alone
            yield Computation(x, 1.3 if odd else 1.0, (self.skipped,))
        yield from self._norms(walk, x, NORMS[1:])

    def again(self, walk: Walk, ids: Collection[str]) -> Iterator[Computation]:
        forms = tuple(one for one in NORMS[1:] if one.id in ids)
        if {one.id for one in forms}.issuperset(ids):
            return self._norms(walk, self.given(walk)[0], forms)
        return self.wrong(walk)

    def guessed(self, walk: Walk) -> Predict:
        x = self.given(walk)[0]
        tensor = x.right(walk.context)
        norm = likely_norm(walk, tensor, tensor, x.began)
        return x.right if norm is None else applied(norm, x.right)

    def _unknown(self, walk: Walk) -> Iterator[Option]:
        yield from super()._unknown(walk)
        x = self.given(walk)[0].right
        for one in unknowns(walk, self.stage or self.key, x, "Before its norm"):
            for way in self._norms(walk, Made(one.predict, x, one.taken.record), NORMS[:1]):
                yield self._option_of(one, way.made)

    def _norms(self, walk: Walk, x: Made, forms: tuple[Form, ...]) -> Iterator[Computation]:
        for norm, _, _ in walk.parameters.norms(x.predict(walk.context), x.began - 1, forms):
            made = Made(applied(norm, x.predict), right_of(norm, x.right), x.began)
            price = max((form.price for form in forms if form.id in norm.ids), default=0.0)
            yield Computation(made, price + 0.25 * (norm.weight is None), norm.ids, player=norm)


@dataclass(frozen=True, kw_only=True)
class ScaledRow(Row):
    """What it reads times a learned vector, feature by feature, which a sum may do on its way."""

    def right(self, walk: Walk) -> Iterator[Computation]:
        x = self.given(walk)[0]
        for use in walk.parameters.of_size(width(walk), x.began - 1, _SCALED_WITHIN):
            made = Made(_scaled(use, x.predict), _scaled(use, x.right), x.began)
            yield Computation(made, may_be_implied=True)


def _scaled(use: Use, x: Predict) -> Predict:
    return lambda context: context.of(x) * context.use(use).flatten()


@dataclass(frozen=True, kw_only=True)
class LinearRow(Row):
    """A linear map of what it reads, to the width that ``outputs`` tells, if it does."""

    outputs: Callable[[Walk], int] | None = None
    missing: str = ""  # the id where there is none
    added_to: tuple[str, ...] = ()  # it may be no tensor, where its sum with one of these is
    activated: tuple[tuple[Form, str], ...] = ()
    moved: str = ""  # the id of a missing one: such an activation is the same mistake then
    along_tokens: str = ""  # the id of a map of tokens, whose result has features and tokens exchanged

    def right(self, walk: Walk) -> Iterator[Computation]:
        x, outputs = self.given(walk)[0], None if self.outputs is None else self.outputs(walk)
        tensor, after = x.predict(walk.context), x.began - 1
        if found_here(walk, self.along_tokens):
            tokens = walk.context.stage("positioned_tokens").shape[1]
            for map_, _, _ in walk.parameters.linears(tensor, after, tokens):
                made = Made(turned(applied(map_, x.predict)), turned(applied(map_, x.right)), x.began)
                yield Computation(made, player=map_)
        for map_, _, _ in walk.parameters.linears(tensor, after, outputs):
            if not _has_the_norms(walk, map_) and not _projects(walk, map_):
                yield Computation(self._mapped(walk, map_, x), player=map_)
        for name in (one for one in self.added_to if is_there(walk, one)):
            plus = read(walk, name).predict(walk.context)
            if plus.shape[:-1] != tensor.shape[:-1]:
                continue
            for map_, _, _ in walk.parameters.linears(tensor, after, outputs, plus):
                yield Computation(self._mapped(walk, map_, x), IMPLIED, player=map_, may_be_implied=True)

    def guessed(self, walk: Walk) -> Predict | None:
        x = self.given(walk)[0]
        outputs = width(walk) if self.outputs is None else self.outputs(walk)
        map_ = likely_map(walk, x.right(walk.context).shape[-1], outputs, x.began)
        return None if map_ is None else applied(map_, x.right)

    def _mapped(self, walk: Walk, map_: LinearMap, x: Made) -> Made:
        alike = x.predict(walk.context).shape == x.right(walk.context).shape
        return Made(applied(map_, x.predict), applied(map_, x.right if alike else x.predict), x.began)

    def wrong(self, walk: Walk) -> Iterator[Computation]:
        x = self.given(walk)[0]
        yield from self._along_tokens(walk, x)
        if self.missing and x.predict(walk.context).shape[-1] == (self.outputs or width)(walk):
            yield Computation(x, 1.0, (self.missing,))
        moved = found_here(walk, self.moved)
        for way in list(self.right(walk)) if self.activated else ():
            for form, id in self.activated:
                made = Made(combine(form.function, way.made.predict), way.made.right, way.made.began)
                yield Computation(made, way.price + (0.0 if moved else 1.0), (id,), player=way.player)

    def _along_tokens(self, walk: Walk, x: Made) -> Iterator[Computation]:
        if not self.along_tokens or found_here(walk, self.along_tokens):
            return
        y = turned(x.predict)
        for map_, _, _ in walk.parameters.linears(y(walk.context), x.began - 1):
            yield Computation(
                Made(applied(map_, y), applied(map_, y), x.began), 1.0, (self.along_tokens,), player=map_
            )


def turned(x: Predict) -> Predict:
    """Tokens and features exchanged."""
    return lambda context: context.of(x).mT


def found_here(walk: Walk, id: str) -> bool:
    """Was this found in this block?"""
    return any(one.id == id for step in walk.steps if step.block == walk.number for one in step.findings)


def _has_the_norms(walk: Walk, map_: LinearMap) -> bool:
    """Was its weight computed with that of the norm before it, which then seems to have none?"""
    is_plain = found_here(walk, "layernorm-no-affine")
    return is_plain and len(origin(walk.trace, walk.trace.used(map_.weight)).leaves) > 1


def _projects(walk: Walk, map_: LinearMap) -> bool:
    """Does it make queries, keys or values in this block?"""
    prefix = f"block{walk.number}.projection"
    return any(one == map_ for name, one in walk.roles.items() if name.startswith(prefix))


def always(walk: Walk) -> bool:
    return True


def never(walk: Walk) -> bool:
    return False


def width(walk: Walk) -> int:
    return walk.context.stage("positioned_tokens").shape[-1]


@dataclass(frozen=True)
class Moved:
    """What is missing at one stage and done at a later one is one mistake, said of the first."""

    first: str
    second: str
    missing: str
    extra: str  # what it is called where it is done
    id: str


def _handed_on(form: Form, given: list[Made]) -> Made | None:
    """What it gives on as it is; None where it computes something."""
    function: Callable[..., object] = form.function
    try:
        return next((one for one in given if function(*given) is one), None)
    except (TypeError, AttributeError):  # of an operation on what is no tensor
        return None


@dataclass(frozen=True, kw_only=True)
class FormRow(Row):
    """A function of what it reads, in one of the ways of a table, whose first is right."""

    forms: tuple[Form, ...]
    unseen: bool = False  # may wrong ones be in no record, too?
    moved: tuple[Moved, ...] = ()
    named: Callable[[Walk, Form], str | None] = field(default=lambda walk, form: form.id)
    implied: Callable[[Walk], bool] = always  # may the right one be in no record?
    needs: Callable[[Walk, Form], bool] = field(default=lambda walk, form: True)

    def right(self, walk: Walk) -> Iterator[Computation]:
        yield from (way for way in self._ways(walk) if way.price < WRONG)

    def wrong(self, walk: Walk) -> Iterator[Computation]:
        yield from (way for way in self._ways(walk) if way.price >= WRONG)

    def _ways(self, walk: Walk) -> Iterator[Computation]:
        given = self.given(walk)
        right: Predict = combine(self.forms[0].function, *(one.right for one in given))
        latest = max(given, key=lambda one: one.began)
        for form in self.forms:
            if not self.needs(walk, form):
                continue
            id, price = form.id and self.named(walk, form), form.price
            if any(one.extra == id and found_here(walk, one.missing) for one in self.moved):
                price = 0.05
            predict: Predict = combine(form.function, *(one.predict for one in given))
            made = Made(predict, right, (_handed_on(form, given) or latest).began)
            yield Computation(
                made, price, () if id is None else (id,), form.blame if id else None,
                may_be_implied=(id is None or self.unseen) and self.implied(walk),
            )  # fmt: skip

    def wrong_in_single(self, walk: Walk) -> Iterator[Computation]:
        return self.wrong(walk)

    def guessed(self, walk: Walk) -> Predict:
        return combine(self.forms[0].function, *(one.right for one in self.given(walk)))
