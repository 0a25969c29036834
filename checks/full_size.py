"""The shape of every stage at the assignment's own sizes, without arithmetic.

A pass on shapes alone gives the shape of each record. Where a stage is a whole record, that is its shape.
Where it is a part of one, or in another layout, each of its axes is the size that it follows in all examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..reference.model_sizes import ModelSizes
from ..submissions.trace import Reference, Trace
from .locating.walk import Step

Shape = tuple[int, ...]


@dataclass(frozen=True)
class FullSize:
    """Shapes by stage key for one image; none where it fails there, or runs other operations."""

    shapes: dict[str, Shape]
    failure: str | None = None


@dataclass(frozen=True)
class Measured:
    """One example: its sizes, and the shape that a stage has in it."""

    sizes: ModelSizes
    shape: Shape


def shape_at(
    step: Step, letters: str, measured: Sequence[Measured], located: Trace, full: Trace, sizes: ModelSizes
) -> Shape | None:
    """The shape of ``step``, whose axes are called ``letters``, in the pass ``full`` at ``sizes``.

    None where its axes follow no size. ``measured`` are its shapes in the examples; the first is the one
    that was ``located``.
    """
    if step.found is not None and not step.found.axes:
        place = step.found.places[0]
        record = located.records[place.record].reference
        whole = Reference("record", place.record, place.offset, measured[0].shape, place.strides)
        if whole == record:  # with its axes in the same order, which equal sizes alone do not tell
            return full.records[place.record].shape
    sides = list(zip(*(one.shape for one in measured)))
    own = [*letters.split(), *[""] * len(sides)]
    axes = [_axis(side, letter, measured, sizes) for side, letter in zip(sides, own)]
    known = [one for one in axes if one is not None]
    return tuple(known) if len(known) == len(axes) else None


def _axis(seen: Sequence[int], own: str, measured: Sequence[Measured], sizes: ModelSizes) -> int | None:
    if set(seen) == {1} and own == "1":  # which some size may be in all examples, too
        return 1
    letters = [own, *sizes.axes] if own in sizes.axes else [*sizes.axes]
    for letter in letters:
        if all(one.sizes.axes[letter] == there for one, there in zip(measured, seen)):
            return sizes.axes[letter]
    return seen[0] if len(set(seen)) == 1 else None


def of_one_image(shape: Shape, batch: int) -> Shape:
    """The assignment's shapes are those of one image."""
    return (1, *shape[1:]) if shape[:1] == (batch,) else shape
