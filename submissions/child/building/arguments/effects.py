"""What an argument means whose name says nothing: what of the model changes where it alone is changed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeGuard

from .....reference.sizes import Sizes
from ....errors import NotLoaded
from ....questions.meanings import fields_of
from ....questions.randomise import named_tensors
from ...loading.definitions import Definition
from ...loading.execution import Loaded
from ...tracing.shapes_alone import ShapesAlone
from ..calls.blueprint import Blueprint, BlueprintSlot, Builder, Choice, Literal, value
from ..calls.observing import ModelParts, observe
from ..calls.parameter_names import hinted
from .argument_choices import PAIRS, image_shape
from .looks import Look, told

_FACTORS = (2.0, 0.5, 3.0)  # what fits one size need not fit another: heads divide the width
_PARTS = 8, 4, 2, 1  # of the student's values: a table that is filled number by number takes seconds
_LEAST_SIDE = 8  # of an image, where three numbers may be its shape
_MOST = 32  # arguments, each of which takes up to three models
_ALIKE = Sizes(  # where the student gives no values: equal ones divide each other, whatever they mean
    batch=2, channels=8, height=8, width=8, patch=8, embed_dim=8, heads=8, mlp_dim=8, depth=8, classes=8
)
_ANY = _ALIKE.embed_dim, 0.1
_PAIRED = (), ("image_pair",), ("image_pair", "patch_pair", "patches_pair")  # sides that are said as two
_ANY_SIZE = "depth", "heads", "mlp_dim"  # what no argument of a known name may say


def understood(
    loaded: Loaded, definition: Definition, blueprint: Blueprint, doubted: Set[str] = frozenset()
) -> Blueprint:
    """The blueprint in which arguments of unknown names have the meanings that their effects give away.

    They are changed one by one beside the values that the student gives to the others. One that has no known
    effect, and a default, is left to that. Beside them, of a name that may mean several things, what its
    effects say comes first, and so does it of what is ``doubted``, by plain names. Raises NotLoaded where one
    has no known effect, and no value.
    """
    if not doubted and all(
        slot.named and not (slot.is_letter and _is_ambiguous(slot)) for slot in blueprint.slots
    ):
        return blueprint
    unknown = [
        slot for slot in blueprint.slots if not slot.named or _is_ambiguous(slot) or slot.plain in doubted
    ]
    effects = _Effects(Builder(loaded, blueprint))
    first: dict[str, BlueprintSlot] = {}
    for slot in unknown:  # arguments come first: a constant of the same name may be nothing but the default
        first.setdefault(slot.plain, slot)
    some = itertools.islice(first.items(), _MOST)
    meant = {plain: tuple(dict.fromkeys(effects.meanings(slot))) for plain, slot in some}
    if unmeant := [plain for plain, slot in first.items() if slot.own and not meant.get(plain)]:
        whole = _Effects(Builder(loaded, blueprint), parts=(1,))  # a part of a width may have no other heads
        meant |= {plain: tuple(dict.fromkeys(whole.meanings(first[plain]))) for plain in unmeant[:_MOST]}
    found = {slot: meant.get(slot.plain, ()) for slot in unknown}

    def with_meaning(slot: BlueprintSlot) -> BlueprintSlot | None:
        if slot.named:
            return replace(slot, choices=_confirmed(slot, found.get(slot, ()), slot.plain in doubted))
        choices = (*found.get(slot, ()), *slot.choices) or tuple(effects.fitting(slot))
        if not choices and not effects.are_known:  # nothing that was tried could be built: it may be any size
            choices = (*hinted(slot.path.rpartition(".")[2]), *_ANY_SIZE, *map(Literal, _ANY))
        if not choices:
            raise unclear(definition, slot)
        meant = any(isinstance(one, str) for one in choices)
        return replace(slot, choices=choices) if meant or slot.needed else None

    return blueprint.changed(with_meaning)


def _meant(slot: BlueprintSlot) -> set[tuple[str, ...]]:
    """The sizes that its name may mean."""
    return {fields_of(one) for one in slot.choices if isinstance(one, str)}


def _is_ambiguous(slot: BlueprintSlot) -> bool:
    """Has its name several meanings, as any letter may, that the student's own value may tell apart?"""
    return slot.own is not None and (len(_meant(slot)) > 1 or (bool(_meant(slot)) and slot.is_letter))


def _confirmed(slot: BlueprintSlot, told: Iterable[str], is_doubted: bool) -> tuple[Choice, ...]:
    """What its effects tell of what its name may mean, first, and all that they tell where that is in doubt.

    Of a letter what else they tell comes last: where two letters mean the same, one of them means that.
    """
    told, meant = tuple(told), _meant(slot)
    first = told if is_doubted else [one for one in told if one in slot.choices]
    last = told if slot.is_letter else ()
    if len(meant) == 1:
        (own,) = meant
        last = tuple(one for one in told if {*own} & {*fields_of(one)})  # a width may be a square image's
    return tuple(dict.fromkeys((*first, *slot.choices, *last)))


def unclear(definition: Definition, slot: BlueprintSlot) -> NotLoaded:
    """What is said of an argument where nothing that it might be given makes a model."""
    line = definition.frame.line
    return NotLoaded(
        f"{definition.name} ({definition.file}, line {line}) needs an argument {slot.path!r},"
        " and it is unclear what to pass: give it a default, or pin it in the assignment file"
        " under [model.arguments]",
        definition.frame,
    )


class _Effects:
    def __init__(self, builder: Builder, parts: Sequence[int] = _PARTS) -> None:
        slots = builder.blueprint.slots
        self._builder, self._parts = builder, parts
        certain = (slot for slot in slots if slot.named and not (slot.is_letter and _is_ambiguous(slot)))
        self._named = {field for slot in certain for field in _fields(slot)}
        self._before: Look | None = None
        # sides as one number, or as two; a size or a rate for what the student gives no value
        for pairs, any_ in itertools.product(_PAIRED, _ANY):
            given = {slot: _own(slot, pairs, any_) for slot in slots}
            self._begin(given)
            if self._before is not None:
                break

    @property
    def are_known(self) -> bool:
        """Could a model be built, so that what an argument changes shows?"""
        return self._before is not None

    def _begin(self, given: Mapping[BlueprintSlot, object]) -> None:
        """With the first part of these values that a model runs at whose image has a side to be seen."""
        for part in self._parts:
            own = {slot: _smaller(one, part) for slot, one in given.items()}
            look = self._look(own)
            is_whole = look is not None and look.shows_side and look.calls is not None
            if self._before is None or is_whole:
                self._own, self._before = own, look
            if is_whole:
                return

    def _look(self, values: Mapping[BlueprintSlot, object]) -> Look | None:
        """None where the student's code cannot build a model of these values."""
        try:
            with ShapesAlone():
                model = self._builder.build_with(values)
            shapes = {name: tuple(one.shape) for name, one in named_tensors(model)}
        except (Exception, SystemExit):
            return None
        sides = [one[0] for one in values.values() if _is_pair(one)]
        return Look(model, shapes, observe(ModelParts.of(model)), sides)

    def meanings(self, slot: BlueprintSlot) -> Iterator[str]:
        """What the slot may mean, the most plausible first; nothing where it is no number or a few."""
        match self._own[slot]:
            case int() | float() as now:
                yield from self._meanings(slot, now)
            case [int() as now, int()]:
                yield from (PAIRS[one] for one in self._meanings(slot, now) if one in PAIRS)
            case [int(), int(), int()] as sides if _is_image(sides):
                yield str(image_shape(sides))

    def _meanings(self, slot: BlueprintSlot, now: float) -> Iterator[str]:
        shown: tuple[Look, float] | None = None
        for factor in _FACTORS:
            if (after := self._changed(slot, now, factor)) is not None:
                is_shown = self._is_shown(after)
                shown = (after, factor) if is_shown or shown is None else shown
                if is_shown:
                    break
        if self._before is not None and shown is not None:
            yield from told(self._before, shown[0], slot, now, shown[1], self._named)

    def _changed(self, slot: BlueprintSlot, now: float, factor: float) -> Look | None:
        other = type(now)(now * factor)
        if other < 1 or other != now * factor:
            return None
        given = (other, other) if _is_pair(self._own[slot]) else other
        alike = (one for one, own in self._own.items() if one.plain == slot.plain and own == self._own[slot])
        return self._look({**self._own, **dict.fromkeys(alike, given)})  # which mean the same

    def _is_shown(self, after: Look) -> bool:
        """Does it show in a shape, or else in a pass? Heads that do not divide the width show in neither."""
        return self._before is None or self._before.shapes != after.shapes or after.calls is not None

    def fitting(self, slot: BlueprintSlot) -> Iterator[Literal]:
        """What a model can be built with where nothing tells what it means: rather a rate than a size."""
        if self._before is not None:
            yield from (
                Literal(one) for one in reversed(_ANY) if self._look({**self._own, slot: one}) is not None
            )


def _own(slot: BlueprintSlot, pairs: Sequence[str], any_: float) -> object:
    if slot.own is not None:
        own = slot.own.value
        return (own[0], own[0]) if _is_pair(own) else own  # sides that are told by their square
    choices = [*(one for one in slot.choices if one in pairs), *slot.choices]
    return value(choices[0], _ALIKE) if choices else any_


def _is_image(sides: Sequence[int]) -> bool:
    """Are they channels, first or last, and two sides?"""
    low, *others = sorted(sides)
    return low in (1, 3) and low in (sides[0], sides[-1]) and min(others) >= _LEAST_SIDE


def _is_pair(own: object) -> TypeGuard[Sequence[int]]:
    return isinstance(own, (tuple, list)) and [*map(type, own)] == [int, int]


def _smaller(own: object, part: int) -> object:
    if _is_pair(own):
        return tuple(_smaller(one, part) for one in own)
    return own // part if type(own) is int and own > part and own % part == 0 else own


def _fields(slot: BlueprintSlot) -> tuple[str, ...]:
    choice = slot.choices[0] if slot.choices else None
    return fields_of(choice) if isinstance(choice, str) else ()
