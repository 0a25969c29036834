"""The sizes of the model that the student's own defaults and constants make."""

from __future__ import annotations

from collections.abc import Mapping

from torch import nn

from ....reference.model_sizes import ModelSizes
from ..tracing.shapes_alone import ShapesAlone
from .build_attempt import fields_set
from .calls.blueprint import BlueprintSlot, Choice, value
from .calls.observing import ModelParts, observe
from .recipe import Recipe, silence


def own_sizes(recipe: Recipe, sizes: ModelSizes) -> Mapping[str, int]:
    """The sizes that the model follows, as it has them where it is given only what it demands, of ``sizes``.

    Those that cannot be read off it are left out. Nothing where the code says no size, or fails at its own.
    """
    given = recipe.controls.assignment
    demanded = {slot: one for slot, one in given.items() if _is_needed(slot)}
    if len(demanded) == len(given):
        return {}
    values = {slot: value(one, sizes) if _is_needed(slot) else _own(slot) for slot, one in given.items()}
    asked = recipe.sizes_for(sizes)
    try:
        with silence(), ShapesAlone():
            model, as_asked = recipe.builder.build_with(values), recipe.build(asked)
    except (Exception, SystemExit):
        return {}
    if recipe.builder.makes_late(model):
        return {}
    told = _rightly(recipe.attempt.seen, recipe.attempt.sizes) & _rightly(_seen(as_asked), asked)
    shown = {name: one for name, one in _seen(model).items() if name in told}
    heads = max((_heads(slot, choice, shown) for slot, choice in given.items()), default=0)
    shown |= {"heads": heads} if heads else {}
    return {name: shown[name] for name in shown.keys() & recipe.controls.fields - fields_set(demanded)}


def _is_needed(slot: BlueprintSlot) -> bool:
    return slot.needed or slot.own is None


def _own(slot: BlueprintSlot) -> object:
    return slot.own.value if slot.own else None


def _seen(model: nn.Module) -> dict[str, int]:
    return observe(ModelParts.of(model))


def _rightly(seen: Mapping[str, int], sizes: ModelSizes) -> set[str]:
    """The sizes that were read rightly off a model of these: one of them alone may be so by chance."""
    return {name for name, one in seen.items() if vars(sizes).get(name) == one}


def _heads(slot: BlueprintSlot, choice: Choice, shown: Mapping[str, int]) -> int:
    """No shape tells how many heads there are: the argument does."""
    own = _own(slot)
    if type(own) is not int or _is_needed(slot):
        return 0
    return (
        own if choice == "heads" else shown.get("embed_dim", 0) // own if choice == "head_dim" and own else 0
    )
