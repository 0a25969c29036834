"""Calling a student's constructor: what it is to be given, and giving it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor, nn

from .....reference.model_sizes import ModelSizes
from ....errors import Frame
from ....questions.meanings import value_of
from ...loading.definitions import Definition, FunctionPair
from ...loading.execution import Loaded
from ...settings import Settings
from .forward_inputs import ForwardInputs, forward_inputs, laid_out
from .function_models import FunctionModel
from .going_on import Step, end_at, open_steps
from .observing import ModelParts, is_lazily_made
from .parameter_names import normalise


@dataclass(frozen=True, eq=False)
class Literal:
    """A value that is given as it is."""

    value: object


Choice = str | Literal  # a meaning, or a value


@dataclass(frozen=True, eq=False)
class BlueprintSlot:
    """One value to fill in; ``path`` is an argument, a dotted key of one, or the name of a constant."""

    path: str
    choices: tuple[Choice, ...]  # the most plausible first; none where it is not known yet what it means
    own: Literal | None = None  # the value that the student gives it
    named: bool = True  # or does its name say nothing of what it means?
    needed: bool = False  # it has no default
    full_name: str = ""  # where that says more than the last part of its path

    @property
    def plain(self) -> str:
        """Its own name; slots in which it is the same mean the same. ``D`` and ``d`` may not."""
        name = self.full_name or self.path.rpartition(".")[2]
        return normalise(name) if len(name) > 1 else name

    @property
    def is_letter(self) -> bool:
        """Is that one letter, which may mean many things?"""
        return len(self.plain) == 1


@dataclass(frozen=True)
class DefinitionName:
    """A class, function or class method of the student's, by name, so that it outlives a reload."""

    module: str
    name: str

    def resolve(self, loaded: Loaded) -> Callable[..., Any]:
        target: Callable[..., Any] = attrgetter(self.name)(loaded.modules[self.module])
        return target


@dataclass(frozen=True)
class PairName(DefinitionName):
    """Two functions that make a model together."""

    pair: FunctionPair

    def resolve(self, loaded: Loaded) -> Callable[..., Any]:
        module = loaded.modules[self.module]
        functions = getattr(module, self.pair.make), getattr(module, self.pair.run)
        return partial(FunctionModel, *functions, self.pair)


def name_of(definition: Definition) -> DefinitionName:
    """By which it is called, of code that is loaded anew."""
    pair = definition.pair
    return (
        DefinitionName(definition.module, definition.name)
        if pair is None
        else PairName(definition.module, definition.name, pair)
    )


@dataclass(frozen=True)
class Call:
    """A call of ``target``, or without one a ``Settings`` of the keywords.

    Where it ``sets`` them, the call is given nothing, and the keywords are attributes of what it gives.
    """

    target: DefinitionName | None
    positional: tuple[Argument, ...]
    keywords: Mapping[str, Argument]
    sets: bool = False

    def slots(self) -> Iterator[BlueprintSlot]:
        for argument in (*self.positional, *self.keywords.values()):
            if isinstance(argument, BlueprintSlot):
                yield argument
            else:
                yield from argument.slots()

    def changed(self, change: Callable[[BlueprintSlot], BlueprintSlot | None]) -> Call:
        """The same call with each slot changed, or left to its default."""

        def of(argument: Argument) -> Argument | None:
            return change(argument) if isinstance(argument, BlueprintSlot) else argument.changed(change)

        keywords = {name: one for name, old in self.keywords.items() if (one := of(old))}
        positional = tuple(one for old in self.positional if (one := of(old)))
        return replace(self, positional=positional, keywords=keywords)


Argument = BlueprintSlot | Call


@dataclass(frozen=True)
class Blueprint:
    """How to build the model: ``call`` it after module constants and module-level settings have been set."""

    call: Call
    constants: tuple[BlueprintSlot, ...]
    settings: tuple[BlueprintSlot, ...]  # path "CONFIG.dim": key or attribute of a module-level object

    @property
    def slots(self) -> tuple[BlueprintSlot, ...]:
        return (*self.call.slots(), *self.constants, *self.settings)

    def changed(self, change: Callable[[BlueprintSlot], BlueprintSlot | None]) -> Blueprint:
        """The same blueprint with each slot changed, or left to what the code says."""
        constants, settings = (
            tuple(one for old in slots if (one := change(old))) for slots in (self.constants, self.settings)
        )
        return Blueprint(self.call.changed(change), constants, settings)


Assignment = Mapping[BlueprintSlot, Choice]


def _images(sizes: ModelSizes) -> Tensor:
    return sizes.input(0)


class MakesNoModule(TypeError):
    """What is called gives something else, as it would for any arguments."""


class Builder:
    """Builds models from a blueprint; constants are set by running the student's files again.

    What a forward demands beside its input is filled in as ``inputs`` say, or in the likeliest way. What it
    takes is ``drawn`` at the sizes.
    """

    def __init__(
        self,
        loaded: Loaded,
        blueprint: Blueprint,
        inputs: ForwardInputs | None = None,
        drawn: Callable[[Any], Tensor] = _images,
    ) -> None:
        self.loaded = loaded
        self.blueprint = blueprint
        self.inputs = inputs
        self._drawn = drawn
        self.steps: Sequence[Step] = ()  # with which an unwritten forward goes on
        self.end: Frame | None = None  # where the whole says that it is not written, of which this is a part
        self._makes_late = False  # does the student's own code make parameters in the first pass?
        self._last: tuple[dict[str, object], Loaded] = ({}, loaded)
        self._tried: tuple[object, nn.Module] | None = None

    def of(self, loaded: Loaded) -> Builder:
        """The same way to build, of other code."""
        other = Builder(loaded, self.blueprint, self.inputs, self._drawn)
        other.end, other._makes_late = self.end, self._makes_late
        return other

    def build(self, assignment: Assignment, sizes: ModelSizes) -> nn.Module:
        """Build a fresh model; whatever the student's code raises comes through."""
        values = {slot: value(choice, sizes) for slot, choice in assignment.items()}
        return self._shaped(self.build_with(values), sizes)

    def build_to_try(self, assignment: Assignment, sizes: ModelSizes) -> nn.Module:
        """Build a model, or give back the last one where nothing that it is given has changed."""
        values = {slot: value(choice, sizes) for slot, choice in assignment.items()}
        given = values, sizes if self._makes_late else None  # what a pass has made has the sizes of that
        if self._tried is None or self._tried[0] != given:
            self._tried = (given, self._shaped(self.build_with(values), sizes))
        return self._tried[1]

    def makes_late(self, model: nn.Module) -> bool:
        """Are there layers or parameters that only the first pass makes, as wide as what they see there?"""
        return self._makes_late or is_lazily_made(model)

    def note_made(self, before: ModelParts, after: ModelParts) -> bool:
        """Say whether a pass has made parameters: from now on, models are built with one."""
        self._makes_late |= len(before.parameters) < len(after.parameters)
        return self._makes_late

    def give(self, inputs: ForwardInputs | None) -> None:
        """Fill in what a forward demands as ``inputs`` say from now on, also in the model that is tried."""
        self.inputs = inputs
        if self._tried is not None:
            vars(self._tried[1]).pop("forward", None)
            if inputs is not None:
                inputs.open(self._tried[1])

    def laid_out(self, axes: str) -> ForwardInputs | None:
        """How the model that is tried is given images of these axes, if that can be done."""
        return None if self._tried is None else laid_out(type(self._tried[1]).forward, self.inputs, axes)

    def forget(self) -> None:
        """Let go of the model that was built last."""
        self._tried = None

    def build_with(self, values: Mapping[BlueprintSlot, object]) -> nn.Module:
        """Build a fresh model of these values; whatever the student's code raises comes through."""
        loaded = self._with_globals(values)
        model = _call(self.blueprint.call, values, loaded)
        if not isinstance(model, nn.Module):
            raise MakesNoModule(f"got {type(model).__name__}, not an nn.Module")
        self.inputs = self.inputs or forward_inputs(type(model).forward)
        if self.inputs is not None:
            self.inputs.open(model)
        if self.steps:
            open_steps(model, self.steps)
        if self.end is not None:
            end_at(model, self.end)
        return model

    def _shaped(self, model: nn.Module, sizes: ModelSizes) -> nn.Module:
        """The model once it has seen an input, if it needs one to be whole."""
        if self.makes_late(model):
            ends = () if self.end is None else (NotImplementedError,)  # once it has made its part
            with torch.no_grad(), suppress(*ends):
                model.eval()(self._drawn(sizes).to(torch.get_default_dtype()))
            model.train()
        return model

    def _with_globals(self, values: Mapping[BlueprintSlot, object]) -> Loaded:
        constants = {slot.path: values[slot] for slot in self.blueprint.constants}
        settings = {slot.path: values[slot] for slot in self.blueprint.settings}
        if not constants and not settings:
            return self.loaded
        key = {**constants, **settings}
        if self._last[0] != key:
            loaded = self.loaded.reload(constants)
            for path, one in settings.items():
                _set(loaded, path, one)
            self._last = (key, loaded)
        return self._last[1]


def value(choice: Choice, sizes: ModelSizes) -> object:
    """Return what an argument of this meaning is given at ``sizes``."""
    return choice.value if isinstance(choice, Literal) else value_of(choice, sizes)


def _call(call: Call, values: Mapping[BlueprintSlot, object], loaded: Loaded) -> Any:
    def give(argument: Argument) -> object:
        return values[argument] if isinstance(argument, BlueprintSlot) else _call(argument, values, loaded)

    positional = [give(argument) for argument in call.positional]
    keywords = {name: give(argument) for name, argument in call.keywords.items()}
    if call.target is None:
        return Settings(keywords)
    target = call.target.resolve(loaded)
    if not call.sets:
        return target(*positional, **keywords)
    # the methods of a class may read what it holds itself
    made = type(target.__name__, (target,), dict(keywords))() if isinstance(target, type) else target()
    for name, one in keywords.items():
        setattr(made, name, one)
    return made


def _set(loaded: Loaded, path: str, value: object) -> None:
    name, _, key = path.partition(".")
    for module in loaded.modules.values():
        target = vars(module).get(name)
        if isinstance(target, dict):
            target[key] = value
        elif target is not None:
            setattr(target, key, value)
