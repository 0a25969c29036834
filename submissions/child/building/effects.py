"""What an argument means whose name says nothing: what of the model changes where it alone is changed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt
from typing import TypeGuard

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from ....reference.sizes import Sizes
from ...errors import NotLoaded
from ...questions.meanings import fields_of
from ...questions.randomise import named_tensors
from ..loading.definitions import Definition
from ..loading.execution import Loaded
from ..tracing.shapes_alone import ShapesAlone
from .argument_choices import PAIRS, image_shape
from .blueprint import Blueprint, BlueprintSlot, Builder, Choice, Literal, value
from .observing import ModelParts, observe
from .parameter_names import hinted

_FACTORS = (2.0, 0.5, 3.0)  # what fits one size need not fit another: heads divide the width
_PARTS = 8, 4, 2, 1  # of the student's values: a table that is filled number by number takes seconds
_CHANNELS, _SIDE = 3, 8  # where no layer shows how many there are, or patches beside each other
_MOST = 32  # arguments, each of which takes up to three models
_MOST_HEADS = 16  # a larger number of the student's that shapes no tensor is more likely a side of the image
_ALIKE = Sizes(  # where the student gives no values: equal ones divide each other, whatever they mean
    batch=2, channels=8, height=8, width=8, patch=8, embed_dim=8, heads=8, mlp_dim=8, depth=8, classes=8
)
_ANY = _ALIKE.embed_dim, 0.1
_ANY_SIZE = "depth", "heads", "mlp_dim"  # what no argument of a known name may say
_Shape = tuple[int, ...]


def understood(loaded: Loaded, definition: Definition, blueprint: Blueprint) -> Blueprint:
    """The blueprint in which arguments of unknown names have the meanings that their effects give away.

    They are changed one by one beside the values that the student gives to the others. One that has no known
    effect, and a default, is left to that. Beside them, of a name that may mean several things, what its
    effects say comes first. Raises NotLoaded where one has no known effect, and no value.
    """
    if all(slot.named and not (_is_letter(slot) and _is_ambiguous(slot)) for slot in blueprint.slots):
        return blueprint
    unknown = [slot for slot in blueprint.slots if not slot.named or _is_ambiguous(slot)]
    effects = _Effects(Builder(loaded, blueprint))
    first: dict[str, BlueprintSlot] = {}
    for slot in unknown:  # arguments come first: a constant of the same name may be nothing but the default
        first.setdefault(slot.plain, slot)
    some = itertools.islice(first.items(), _MOST)
    meant = {plain: tuple(dict.fromkeys(effects.meanings(slot))) for plain, slot in some}
    found = {slot: meant.get(slot.plain, ()) for slot in unknown}

    def with_meaning(slot: BlueprintSlot) -> BlueprintSlot | None:
        if slot.named:
            return replace(slot, choices=_confirmed(slot, found.get(slot, ())))
        choices = (*found.get(slot, ()), *slot.choices) or tuple(effects.fitting(slot))
        if not choices and not effects.are_known:  # nothing that was tried could be built: it may be any size
            choices = (*hinted(slot.path.rpartition(".")[2]), *_ANY_SIZE, *map(Literal, _ANY))
        if not choices:
            raise unclear(definition, slot)
        meant = any(isinstance(one, str) for one in choices)
        return replace(slot, choices=choices) if meant or slot.needed else None

    return blueprint.changed(with_meaning)


def _is_ambiguous(slot: BlueprintSlot) -> bool:
    """Has its name several meanings, of which the student's own value may tell the right one?"""
    return slot.own is not None and len({fields_of(one) for one in slot.choices if isinstance(one, str)}) > 1


def _is_letter(slot: BlueprintSlot) -> bool:
    return len(slot.plain) == 1


def _confirmed(slot: BlueprintSlot, told: Iterable[str]) -> tuple[Choice, ...]:
    """What its effects tell of what its name may mean, first; of a letter, whatever they tell."""
    first = (one for one in told if _is_letter(slot) or one in slot.choices)
    return tuple(dict.fromkeys((*first, *slot.choices)))


def unclear(definition: Definition, slot: BlueprintSlot) -> NotLoaded:
    """What is said of an argument where nothing that it might be given makes a model."""
    line = definition.frame.line
    return NotLoaded(
        f"{definition.name} ({definition.file}, line {line}) needs an argument {slot.path!r},"
        " and it is unclear what to pass: give it a default, or pin it in the assignment file"
        " under [model.arguments]",
        definition.frame,
    )


@dataclass(frozen=True)
class _Look:
    """The shapes of all tensors that a model holds, and the sizes that can be read off it."""

    model: nn.Module
    shapes: Mapping[str, _Shape]
    sizes: Mapping[str, int]

    @cached_property
    def calls(self) -> int | None:
        """How many modules a pass calls, each as often as it is used; None where no pass can be run."""
        called: list[nn.Module] = []
        side = self.sizes.get("height") or _SIDE * self.sizes.get("patch", 1)
        channels = self.sizes.get("channels", _CHANNELS)
        hook = register_module_forward_hook(lambda module, *_: called.append(module))
        try:
            with ShapesAlone(), torch.no_grad():
                self.model(torch.zeros(2, channels, side, side))
        except (Exception, SystemExit):
            return None
        finally:
            hook.remove()
        return len(called)


class _Effects:
    def __init__(self, builder: Builder) -> None:
        slots = builder.blueprint.slots
        self._builder = builder
        self._named = {field for slot in slots if slot.named for field in _fields(slot)}
        self._before: _Look | None = None
        # a side as one number, or as two; a size or a rate for what the student gives no value
        for pairs, any_ in itertools.product((False, True), _ANY):
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
        for part in _PARTS:
            own = {slot: _smaller(one, part) for slot, one in given.items()}
            look = self._look(own)
            is_whole = look is not None and "height" in look.sizes and look.calls is not None
            if self._before is None or is_whole:
                self._own, self._before = own, look
            if is_whole:
                return

    def _look(self, values: Mapping[BlueprintSlot, object]) -> _Look | None:
        """None where the student's code cannot build a model of these values."""
        try:
            with ShapesAlone():
                model = self._builder.build_with(values)
            shapes = {name: tuple(one.shape) for name, one in named_tensors(model)}
        except (Exception, SystemExit):
            return None
        return _Look(model, shapes, observe(ModelParts.of(model)))

    def meanings(self, slot: BlueprintSlot) -> Iterator[str]:
        """What the slot may mean, the most plausible first; nothing where it is no number or a few."""
        match self._own[slot]:
            case int() | float() as now:
                yield from self._meanings(slot, now)
            case [int() as now, int()]:
                yield from (PAIRS[one] for one in self._meanings(slot, now) if one in PAIRS)
            case [int(), int(), int()] as sides if {1, 3} & {sides[0], sides[-1]}:
                yield str(image_shape(sides))

    def _meanings(self, slot: BlueprintSlot, now: float) -> Iterator[str]:
        told: tuple[_Look, float] | None = None
        for factor in _FACTORS:
            if (after := self._changed(slot, now, factor)) is not None:
                is_shown = self._is_shown(after)
                told = (after, factor) if is_shown or told is None else told
                if is_shown:
                    break
        if self._before is not None and told is not None:
            yield from self._told(self._before, told[0], slot, now, told[1])

    def _changed(self, slot: BlueprintSlot, now: float, factor: float) -> _Look | None:
        other = type(now)(now * factor)
        if other < 1 or other != now * factor:
            return None
        given = (other, other) if _is_pair(self._own[slot]) else other
        return self._look({**self._own, slot: given})

    def _is_shown(self, after: _Look) -> bool:
        """Does it show in a shape, or else in a pass? Heads that do not divide the width show in neither."""
        return self._before is None or self._before.shapes != after.shapes or after.calls is not None

    def fitting(self, slot: BlueprintSlot) -> Iterator[Literal]:
        """What a model can be built with where nothing tells what it means: rather a rate than a size."""
        if self._before is not None:
            yield from (
                Literal(one) for one in reversed(_ANY) if self._look({**self._own, slot: one}) is not None
            )

    def _told(
        self, before: _Look, after: _Look, slot: BlueprintSlot, now: float, factor: float
    ) -> Iterator[str]:
        if before.shapes.keys() != after.shapes.keys():  # more blocks, or more heads, which are smaller then
            kept = before.shapes.keys() & after.shapes.keys()
            changed = [pair for name in kept for pair in zip(before.shapes[name], after.shapes[name])]
            if any(one != other and (other < one) == (factor > 1) for one, other in changed):
                yield "heads"  # each of which is smaller, the more there are
                return
            alike = all(one == other for one, other in changed)
            deeper = alike or before.sizes.get("depth") != after.sizes.get("depth")
            yield from ("depth", "heads") if deeper else ("heads", "depth")
        elif before.shapes == after.shapes:
            calls = before.calls, after.calls
            if calls[0] != calls[1]:  # one block is used again and again
                yield "depth"
                if None not in calls:
                    return
            yield from (one for one in _unseen(before, slot, now) if not {*fields_of(one)} & self._named)
        elif _is_split(before.shapes, after.shapes, now, factor):
            yield "heads"
        elif _scaled(before, after, "embed_dim", factor):
            yield "embed_dim"
        elif _scaled(before, after, "mlp_dim", factor):
            yield "mlp_dim" if after.sizes["mlp_dim"] == now * factor else "mlp_ratio"
        else:
            if _is_read(before, after):
                yield "embed_dim"  # a layer behind the last block reads so many
            yield from _ends(before.shapes, after.shapes, now, factor) or _of_a_table(before, after)


def _own(slot: BlueprintSlot, pairs: bool, any_: float) -> object:
    if slot.own is not None:
        own = slot.own.value
        return (own[0], own[0]) if _is_pair(own) else own  # sides that are told by their square
    choices = [one for one in slot.choices if str(one).endswith("_pair")] if pairs else []
    choices += slot.choices
    return value(choices[0], _ALIKE) if choices else any_


def _is_pair(own: object) -> TypeGuard[Sequence[int]]:
    return isinstance(own, (tuple, list)) and [*map(type, own)] == [int, int]


def _smaller(own: object, part: int) -> object:
    if _is_pair(own):
        return tuple(_smaller(one, part) for one in own)
    return own // part if type(own) is int and own > part and own % part == 0 else own


def _fields(slot: BlueprintSlot) -> tuple[str, ...]:
    choice = slot.choices[0] if slot.choices else None
    return fields_of(choice) if isinstance(choice, str) else ()


def _scaled(before: _Look, after: _Look, size: str, factor: float) -> bool:
    was = before.sizes.get(size) or before.sizes.get("embed_dim")  # an MLP as wide as the tokens is not seen
    return was is not None and after.sizes.get(size) == factor * was


def _is_split(before: Mapping[str, _Shape], after: Mapping[str, _Shape], now: float, factor: float) -> bool:
    """Do all tensors that change have an axis for it, and beside it one that shrinks where that grows?"""
    changed = [zip(before[name], after[name]) for name in before if before[name] != after[name]]
    sides = [{(one, other) for one, other in pairs if one != other} for pairs in changed]
    own = (now, now * factor)
    return all(
        own in pairs and any((other < one) == (factor > 1) for one, other in pairs - {own}) for pairs in sides
    )


def _is_read(before: _Look, after: _Look) -> bool:
    """Is all that changes how many features, as many as a token has, a matrix reads?"""
    changed = [(one, after.shapes[name]) for name, one in before.shapes.items() if one != after.shapes[name]]
    width = before.sizes.get("embed_dim")
    return all(len(one) == 2 and one[0] == other[0] and one[1] == width for one, other in changed)


def _unseen(before: _Look, slot: BlueprintSlot, now: float) -> Iterator[str]:
    """What shapes no tensor: heads, which divide the width, or an image without a table of positions."""
    if now > 1:
        heads = before.sizes.get("embed_dim", 1) % now == 0
        given = slot.own.value if slot.own and isinstance(slot.own.value, (int, float)) else now
        both = ("heads", "image") if given <= _MOST_HEADS else ("image", "heads")
        yield from both if heads else ("image",)


def _ends(before: Mapping[str, _Shape], after: Mapping[str, _Shape], now: float, factor: float) -> list[str]:
    """What shapes the embedding or the head alone."""
    changed = [(before[name], after[name]) for name in before if before[name] != after[name]]
    sides = [(one, other) for old, new in changed for one, other in zip(old, new) if one != other]
    found = []
    if any(len(old) == 4 and old[2:] == (now, now) for old, _ in changed) or any(
        one % now**2 == 0 and other == one * factor**2 for one, other in sides
    ):
        found.append("patch")
    if any(len(old) == 4 and old[1] == now != new[1] for old, new in changed):
        found.append("channels")
    return found + [meaning for one, other in sides for meaning in _side(one, other, now, factor)]


def _of_a_table(before: _Look, after: _Look) -> tuple[str, ...]:
    """An image, where all that changes is how many rows a table of tokens has, however they are counted."""
    changed = [(one, after.shapes[name]) for name, one in before.shapes.items() if one != after.shapes[name]]
    width = before.sizes.get("embed_dim")
    rows = all(len(one) == len(other) > 1 and one[-1] == other[-1] == width for one, other in changed)
    return ("image",) if rows else ()


def _side(one: int, other: int, now: float, factor: float) -> Iterator[str]:
    for token in (0, 1):  # of the class token, beside those of the patches
        side = isqrt(max(one - token, 0))
        if side * side == one - token and other - token == (side * factor) ** 2 and now % max(side, 1) == 0:
            yield "patches_side" if side == now else "image"
    if (one, other) == (now + 1, now * factor + 1):
        yield "patches"
    if (one, other) == (now, now * factor):
        yield from ("classes", "tokens")
    elif one % now == 0 and isqrt(int(one // now)) ** 2 == one // now and other == one * factor:
        yield "channels"
