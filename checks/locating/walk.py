"""The state of a walk from S02 to S26 through one trace, and the small steps that every part of it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ...submissions.host.trace import Trace, Use
from ..architecture.family import Family
from .comparing import equal
from .context import Context, Predict
from .patience import USUAL, Patience
from .search.binding import Binding
from .search.nearness import fingerprint
from .search.norms import BatchNorm, Norm
from .search.parameter_search import LinearMap, Parameters
from .search.places import Found, Places, places_in
from .steps import Finding, Made, Step

_Any = TypeVar("_Any")
NOTHING = ("NoneType", "ellipsis")  # what a function gives that is not written yet, or a variable is


@dataclass
class Walk:
    """What has been settled so far. ``position`` is the record at which the last tensor began."""

    context: Context
    places: Places
    parameters: Parameters
    family: Family
    position: int = 0
    steps: list[Step] = field(default_factory=list)
    roles: dict[str, LinearMap | Norm | BatchNorm | Use] = field(
        default_factory=dict
    )  # parameters by role, such as "block1.out"
    heads: int = 0
    architecture: str | None = None  # the kind of its blocks, once it is known
    normed: bool = False  # is what such a block gives the output of a norm?
    blocks: int = 0
    class_row: int = 0
    packing: str = ""
    unexplained: tuple[str, int] | None = None
    lost: str = ""  # why there are no numbers from there on, where that is so
    bound: Binding | None = None  # of parameters, where all stages are known by the scores alone
    given: Mapping[tuple[str, int], Predict] = field(default_factory=dict)  # stages that the input stands for
    made: dict[str, Made] = field(default_factory=dict)  # in the block at hand, what is no stage of its own
    between: dict[tuple[str, int], tuple[Made, ...]] = field(default_factory=dict)  # all such, by that stage
    owed: tuple[Finding, ...] = ()  # what was found of such tensors
    began: dict[tuple[str, int], int] = field(default_factory=dict)  # of stages, as of what is made
    # what was measured of such, and the record, by the stage to blame
    told: dict[str, tuple[str, int]] = field(default_factory=dict)
    signs: frozenset[str] = frozenset()  # of wrong ways taken so far
    price: float = 0.0  # of all that was settled
    sure: bool = False  # does the latest step make all before it certain?
    assumed: bool = False  # are the latest steps shown by nothing but what may follow?
    certain: float = 0.0  # the price when a step last did
    met: float = 0.0  # the price when queries and keys last met, whatever had led there
    ahead: tuple[str, int] = ("", 0)  # the stage that is looked for
    single: bool = False  # was any of it computed in float32, whatever the model's type?
    accepted: frozenset[str] = frozenset()  # kinds of blocks that the assignment accepts
    patience: Patience = USUAL
    ends: tuple[Tensor, ...] = ()  # what a single component returns: of several, one may be meant
    formulas: Mapping[str, bool] = field(default_factory=dict)  # of a stage's fixed table: is it a right one?
    known: dict[object, Any] = field(default_factory=dict)  # what was found out once, for all walks

    @property
    def trace(self) -> Trace:
        return self.context.trace

    @property
    def sizes(self) -> ModelSizes:
        return self.context.sizes

    def forked(self) -> Walk:
        """One that goes on from here alone."""
        return replace(
            self,
            context=self.context.forked(),
            steps=list(self.steps),
            roles=dict(self.roles),
            made=dict(self.made),
            between=dict(self.between),
            told=dict(self.told),
            began=dict(self.began),
        )

    @property
    def number(self) -> int:
        """Of the block at hand."""
        return self.blocks + 1

    @property
    def ids(self) -> frozenset[str]:
        """Of all that was found so far."""
        return frozenset(one.id for step in self.steps for one in step.findings)

    @property
    def errors(self) -> frozenset[str]:
        """Of these, those that are mistakes, and no variants."""
        return frozenset(one for one in self.ids if self.family.mistake(one).kind == "error")

    @property
    def state(self) -> tuple[object, ...]:
        """The same where all that is still to come is the same: the numbers at hand, and the place."""
        near = (0, self.blocks, self.number)
        own = ((key, one) for (key, block), one in self.context.stages.items() if block in near)
        made = ((key, self.context.of(one.predict)) for key, one in self.made.items())
        return (self.blocks, self.position, *((key, self._print_of(one)) for key, one in (*own, *made)))

    def _print_of(self, tensor: Tensor) -> object:
        """Once for each tensor, which is kept, so that no other gets its identity."""
        kept: tuple[Tensor, object] = self.once(("print", id(tensor)), lambda: (tensor, fingerprint(tensor)))
        return kept[1]

    def once(self, key: object, found_out: Callable[[], _Any]) -> _Any:
        """What does not hang on how a walk came here, by what it does hang on: it is found out once."""
        if key not in self.known:
            self.known[key] = found_out()
        known: _Any = self.known[key]
        return known

    def find(self, prediction: Tensor, after: int | None = None) -> Found | None:
        return self.places.find(prediction, self.position - 1 if after is None else after)

    @property
    def ends_early(self) -> bool:
        """Does the pass end in an exception, or before there are scores?"""
        return self.trace.error is not None or self.trace.begun

    @property
    def is_cut_short(self) -> bool:
        """Does the pass end for want of code, so that what is there is complete, as far as it comes?"""
        error = self.trace.error
        if error is None:
            return self.ends_early
        return error.is_placeholder or any(one in error.message for one in NOTHING)

    def settle(
        self,
        key: str,
        block: int,
        predict: Predict,
        found: Found | None,
        *,
        right: Predict | None = None,
        ids: Iterable[str] = (),
        blame: str | None = None,
        explained: bool = True,
        message: str = "",
    ) -> Tensor:
        """Takes the student's tensor of a stage as ``predict`` gives it; all later stages build on it."""
        record = None if found is None else found.record
        findings = tuple(Finding(name, blame or key, record) for name in ids)
        step = Step(key, block, predict, right or predict, found, findings, explained, message)
        self.steps.append(step)
        self.assumed = self.assumed and found is None
        tensor = self.context.of(predict)
        self.context.settle(key, block, tensor)
        self.began[key, block] = self.position if found is None else found.first
        if found is not None:
            self.position = max(self.position, found.first)
        return tensor

    def make(self, key: str, made: Made) -> None:
        """Takes what is no stage of its own, and told of at another one."""
        self.made[key] = made
        at = made.stage, self.number
        self.between[at] = (*self.between.get(at, ()), made)

    def paid(self, key: str) -> tuple[Finding, ...]:
        """What is owed to a stage, which it is no longer."""
        found = tuple(one for one in self.owed if one.stage == key)
        self.owed = tuple(one for one in self.owed if one.stage != key)
        return found

    def tell(self, position: int) -> None:
        """Says at a step what was measured of a part of it."""
        step = self.steps[position]
        message, part = self.told.pop(step.key)
        self.steps[position] = replace(step, explained=False, message=message, part=part)

    def note(self, name: str, stage: str, record: int | None = None) -> None:
        """Adds a finding to the latest step."""
        self.note_at(len(self.steps) - 1, name, stage, record)

    def note_at(self, position: int, name: str, stage: str, record: int | None = None) -> None:
        """Adds a finding to a step."""
        step = self.steps[position]
        self.steps[position] = replace(step, findings=(*step.findings, Finding(name, stage, record)))

    def renamed(self, name: str, other: str) -> None:
        """Gives every finding of this name the other, where a later stage shows what it really is."""
        for position, step in enumerate(self.steps):
            self.steps[position] = step.renamed(name, other)

    def note_on(self, key: str, block: int, name: str) -> None:
        """Adds a finding to the stage of a block, if it is there."""
        for position, step in enumerate(self.steps):
            if (step.key, step.block) == (key, block):
                self.note_at(position, name, key)

    def stuck(self, key: str, block: int) -> None:
        """Says where no known equation leads on."""
        self.unexplained = (key, block)

    def ends_with(self, x: Tensor) -> bool:
        """Says whether a single component returns ``x``."""
        return any(equal(x, one) for one in self.ends)

    def opened(self, trace: Trace, sizes: ModelSizes) -> Context:
        """What equations read on another trace, with nothing settled yet."""
        return self.begun_in(Context(trace, sizes))

    def begun_in(self, context: Context) -> Context:
        """The same, in which the stages that the input stands for are settled."""
        context.stages.update({stage: read(context) for stage, read in self.given.items()})
        return context

    def look_everywhere(self) -> None:
        """From here on, looks among tensors that do not depend on the image, too."""
        self.places, self.known = places_in(self.trace, range(len(self.trace.records))), {}
        self.parameters = Parameters(self.context, self.places, self.trace.all_uses)


def begin(trace: Trace, sizes: ModelSizes, family: Family) -> Walk:
    """A walk that stands at the input of the model."""
    return begin_at({(family.input_key, 0): whole_input}, trace, sizes, family)


def begin_at(
    given: Mapping[tuple[str, int], Predict], trace: Trace, sizes: ModelSizes, family: Family
) -> Walk:
    """A walk whose input stands for the stages ``given``, by key and block; each is read as it says."""
    context = Context(trace, sizes)
    places = places_in(trace)
    walk = Walk(context, places, Parameters(context, places, trace.uses), family, given=given)
    walk.begun_in(context)
    return walk


def whole_input(context: Context) -> Tensor:
    """What the pass was given."""
    return context.image


def stage_of(key: str, block: int) -> Predict:
    """Reads a stage that has been settled."""
    return lambda context: context.stage(key, block)


def combine(function: Callable[..., Tensor], *inputs: Predict) -> Predict:
    """``function`` of predicted tensors."""
    return lambda context: function(*map(context.of, inputs))


def applied(map_: LinearMap | Norm | BatchNorm, x: Predict) -> Predict:
    return lambda context: map_(context, context.of(x))


def right_of(norm: Norm | BatchNorm, x: Predict) -> Predict:
    """LayerNorm with the parameters of ``norm``."""
    return lambda context: norm.right(context, context.of(x))
