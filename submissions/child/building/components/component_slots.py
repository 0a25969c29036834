"""What the arguments of a component may mean: trying tells which, and the likeliest come first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from .....reference.components import Component
from ..arguments.argument_choices import contradictions
from ..calls.blueprint import BlueprintSlot, Choice

OF_IMAGES = {"image", "height", "width", "patch", "pixels"}


def any_size(
    row: Component, meanings: Mapping[str, Choice], read: Collection[str], slot: BlueprintSlot
) -> BlueprintSlot:
    """What a name that says nothing may mean, or a letter that means no size of it: trying tells which.

    Of what a name may mean they are the likeliest. What its code does not read keeps the student's value,
    such as most of a configuration.
    """
    meant = (*row.sizes, "mlp_ratio") if "mlp_dim" in row.sizes else row.sizes
    if slot.named and not (slot.is_letter and {*slot.choices}.isdisjoint(meant)):
        return replace(slot, choices=tuple(sorted(slot.choices, key=lambda one: one not in meant)))
    if "." in slot.path and slot.path.rpartition(".")[2] not in read:
        return slot
    known = [meanings[slot.plain]] if meanings.get(slot.plain) in meant else []
    return replace(slot, named=False, choices=tuple(dict.fromkeys((*known, *meant, *slot.choices))))


def of_no_image(slot: BlueprintSlot) -> BlueprintSlot:
    """Without the sizes of an image, if it may mean anything else."""
    others = tuple(one for one in slot.choices if one not in OF_IMAGES)
    return replace(slot, choices=others or slot.choices)


def doubt(assignment: Mapping[BlueprintSlot, Choice]) -> int:
    """What speaks against these meanings of names that say nothing.

    Rather each means something else, and the student's own values are sizes that go together.
    """
    given = Counter(one for one in assignment.values() if isinstance(one, str))
    meant = {slot: one for slot, one in assignment.items() if not slot.named and isinstance(one, str)}
    own = {one: slot.own.value for slot, one in meant.items() if slot.own and isinstance(slot.own.value, int)}
    return sum(given[one] > 1 for one in meant.values()) + contradictions(own)
