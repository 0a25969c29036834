"""Whether the model runs at the sizes that the student's own defaults, constants and calls give it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import isqrt

import torch
from torch import nn

from ....reference.model_sizes import ModelSizes
from ....reference.sizes import Sizes
from ...questions.meanings import fields_of
from ..loading.definitions import Definitions
from ..tracing.shapes_alone import ShapesAlone
from .calls.blueprint import BlueprintSlot, value
from .calls.observing import ModelParts, observe
from .own_images import with_own_batches, with_own_images
from .probing import USUAL_SIDES
from .recipe import Recipe, silence
from .trial_sizes import SMALL

_CHANNELS = 3, 1
_LEAST_SIDE = 8  # of an image
_COUNTS = "patches", "tokens", "patches_side"  # meanings that tell a side beside the patch
_BATCH = 2  # what fails for one image alone is told by other passes
_Values = Mapping[BlueprintSlot, object]
_Shape = tuple[int, int, int, int]  # of the images


def own_pass(recipe: Recipe, sizes: ModelSizes) -> bool:
    """Does the model that the student's own values make run, on an image of a side that it may be meant for?

    Where the student's own call makes it, it is tried on the images that stand in the code. Not tried, and
    False, where it reads no images, and where the student gives it no values, or those that it is given at
    ``sizes``. Raises what the code raises at the likeliest image, where it runs on none.
    """
    given = recipe.controls.assignment
    if not isinstance(sizes, Sizes) or any(slot.own is None for slot in given):
        return False
    if not given:
        return _runs_on_own_images(recipe)
    definitions = Definitions(recipe.builder.loaded)
    found = recipe.sizes_for(sizes)
    at_sizes = {slot: value(choice, found) for slot, choice in given.items()}
    ways = list(_own_values(recipe, definitions))
    if at_sizes in ways:
        return False
    failures: list[BaseException] = []
    for values in ways:
        with silence(), torch.no_grad():
            failures += _failures(recipe, definitions, values)
        if not failures:
            return True
    raise failures[0]


def _runs_on_own_images(recipe: Recipe) -> bool:
    """Square ones, of as many channels as it reads: what else is four numbers may be no image."""
    channels = recipe.controls.fixed.get("channels")
    if channels is None:
        return False
    definitions = Definitions(recipe.builder.loaded)
    shapes = [
        (_BATCH, one.channels, one.height, one.width)
        for one in with_own_batches(SMALL, definitions)
        if one.height == one.width and one.channels == channels
    ]
    if not shapes:
        return False
    with silence(), torch.no_grad():
        with ShapesAlone():
            model = recipe.builder.build_with({}).eval()
        failure = _raised_on_all(recipe, {}, model, shapes)
    if failure is not None:
        raise failure
    return True


def _own_values(recipe: Recipe, definitions: Definitions) -> Iterator[_Values]:
    """As the student's own call gives them; then by the defaults alone, which such a call may not need."""
    defaults = {slot: slot.own.value for slot in recipe.controls.assignment if slot.own}
    written = dict(defaults)
    for slot in recipe.builder.blueprint.call.slots():
        if slot in written:
            with suppress(LookupError):
                written[slot] = definitions.written_value(slot.path, recipe.definition)
    yield written
    if written != defaults:
        yield defaults


def _failures(recipe: Recipe, definitions: Definitions, values: _Values) -> list[BaseException]:
    """What is raised on the likeliest image, with arithmetic: without it, code may fail that is right.

    Values that a constructor does not take are defaults that nobody uses.
    """
    try:
        with ShapesAlone():
            model = recipe.builder.build_with(values).eval()
    except (Exception, SystemExit):
        return []
    if recipe.builder.makes_late(model):
        return []
    shapes = _images(recipe, values, observe(ModelParts.of(model)))
    own = with_own_images(SMALL, definitions)
    shapes += [(shapes[0][0], one.channels, one.height, one.width) for one in own]
    failure = _raised_on_all(recipe, values, model, shapes)
    return [failure] if failure else []


def _raised_on_all(
    recipe: Recipe, values: _Values, model: nn.Module, shapes: Sequence[_Shape]
) -> BaseException | None:
    """What a fresh one raises on the first image, if the ``model``, which has shapes alone, runs on none."""
    with ShapesAlone():
        if any(_raised(model, shape) is None for shape in shapes):
            return None
    return _raised(recipe.builder.build_with(values).eval(), shapes[0])


def _raised(model: nn.Module, shape: _Shape) -> BaseException | None:
    try:
        model(torch.zeros(shape))
    except (Exception, SystemExit) as error:
        return error
    return None


def _images(recipe: Recipe, values: _Values, seen: Mapping[str, int]) -> list[_Shape]:
    """The images that the model may be meant for, the likeliest first."""
    patch = [given for slot, given in values.items() if _sets(recipe, "patch", slot) and type(given) is int]
    heights, widths = (
        [
            one
            for slot, given in values.items()
            if _sets(recipe, name, slot)
            for one in _sides(_side(_meaning(recipe, slot), given, patch))
        ]
        for name in ("height", "width")
    )
    channels = [
        given for slot, given in values.items() if _sets(recipe, "channels", slot) and type(given) is int
    ]
    channels += [seen["channels"]] if "channels" in seen else []
    usual = [(one, one) for one in (*_sides(seen.get("height")), *USUAL_SIDES)]
    sides = list(dict.fromkeys(product(heights or widths, widths or heights))) or usual
    batch = [given for slot, given in values.items() if _sets(recipe, "batch", slot) and type(given) is int]
    images = [*batch, recipe.controls.fixed.get("batch", _BATCH)][0]
    return [(images, count, *pair) for pair in sides for count in channels[:1] or _CHANNELS]


def _sets(recipe: Recipe, name: str, slot: BlueprintSlot) -> bool:
    """May it say this size? Also where the model came farther with the student's own value in its place."""
    return name in fields_of(_meaning(recipe, slot))


def _meaning(recipe: Recipe, slot: BlueprintSlot) -> str:
    meant = recipe.controls.assignment[slot]
    found = (one for one in (meant, *slot.choices[:1]) if isinstance(one, str))
    return next(found, "")


def _side(meaning: str, given: object, patch: Sequence[int]) -> object:
    """Of so many patches, with the class token or without, or so many in a row; else what is given."""
    if type(given) is not int or meaning not in _COUNTS:
        return given
    rows = given if meaning == "patches_side" else isqrt(given)
    return rows * next(iter(patch), 0)


def _sides(given: object) -> list[int]:
    """What may be the side of an image, of one number or of several."""
    numbers = given if isinstance(given, (tuple, list)) else [given]
    return [one for one in numbers if type(one) is int and one >= _LEAST_SIDE]
