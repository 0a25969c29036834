"""The shape of every stage at the assignment's own sizes, without arithmetic.

A pass on shapes alone gives the shape of each record. Where a stage is a whole record, that is its shape.
Where it is a part of one, or in another layout, each of its axes is the size that it follows in all examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...reference.model_sizes import ModelSizes
from ...reference.sizes import Sizes
from ...submissions.errors import StudentCodeFailed, SubmissionError
from ...submissions.host.trace import Trace
from ..locating.steps import Step
from .asked_once import asked_once
from .passes.examples import Examples

Shape = tuple[int, ...]
_AKIN = {"T": "N"}  # without a class token there are as many tokens as patches


@dataclass(frozen=True)
class FullSize:
    """Shapes by stage key for one image; none where it runs other operations there.

    Where it fails there, they are those of the stages that it comes to. ``sizes`` are the nearest to the
    assignment's that the model can be built at.
    """

    shapes: dict[str, Shape]
    failure: StudentCodeFailed | None = None
    sizes: ModelSizes | None = None


@dataclass(frozen=True)
class Measured:
    """One example: its sizes, and the shape that a stage has in it."""

    sizes: ModelSizes
    shape: Shape


def full_size(examples: Examples) -> FullSize:
    """Return the shapes that the submission's stages have there.

    Shapes do not depend on the depth, so it is that of the first example; a batch of one is laid out by
    other operations than a larger one. Where no sizes are asked for it may fail there: a table may have room
    for fewer tokens.
    """
    session, is_asked = examples.session, examples.assignment.asks_sizes
    try:
        sizes = session.sizes_for(of_the_first(examples))
        trace = session.trace(sizes, examples.seed)
    except StudentCodeFailed as error:
        return FullSize({}, error if is_asked else None)
    except SubmissionError:  # it takes more memory or time there than there is, which says nothing of shapes
        return FullSize({})
    if trace.error is not None and examples.crash is None and not session.is_script:
        if not is_asked:
            return FullSize({}, sizes=sizes)
        began = _begins_alike(trace, examples.walk.trace)
        return FullSize(_shapes_in(examples, trace, sizes) if began else {}, trace.error, sizes)
    if trace.signature != examples.walk.trace.signature:
        return FullSize({})
    return FullSize(_shapes_in(examples, trace, sizes), sizes=sizes)


@asked_once
def full_sizes(examples: Examples) -> ModelSizes:
    """The assignment's. Where it asks for none and the code fixes the patch, as many patches of that."""
    full, first = examples.assignment.full, examples.first_draw.sizes
    if examples.assignment.asks_sizes or not isinstance(full, Sizes) or not isinstance(first, Sizes):
        return full
    rows, columns = first.grid
    few = replace(first, patch=full.patch, height=rows * full.patch, width=columns * full.patch)
    patch = examples.session.sizes_for(few).patch
    rows, columns = full.grid
    return replace(full, patch=patch, height=rows * patch, width=columns * patch)


def of_the_first(examples: Examples) -> ModelSizes:
    """The same, with the first example's depth and a batch that is laid out as there."""
    first = examples.first_draw.sizes
    return replace(full_sizes(examples), batch=min(first.batch, 2), depth=first.depth)


def _begins_alike(full: Trace, located: Trace) -> bool:
    """Did the same operations run, as far as it comes?"""
    return [one.op for one in full.records] == [one.op for one in located.records[: len(full.records)]]


def _shapes_in(examples: Examples, full: Trace, sizes: ModelSizes) -> dict[str, Shape]:
    family, walk, (first, *_) = examples.family, examples.walk, examples.examples
    found: dict[str, Shape] = {family.input_key: of_one_image(full.records[0].shape, sizes.batch)}
    same = [one for one in examples.examples if one.walk is walk]
    for number, seen in enumerate(first.seen):
        if seen.step.found is not None and seen.step.found.record >= len(full.records):
            break  # it fails before
        measured = [Measured(one.draw.sizes, tuple(one.seen[number].student.shape)) for one in same]
        shape = shape_at(seen.step, family.stage(seen.step.key).axes, measured, walk.trace, full, sizes)
        if shape is not None:
            found.setdefault(seen.step.key, of_one_image(shape, sizes.batch))
    return found


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
        whole = place.window(measured[0].shape)
        if whole == record:  # with its axes in the same order, which equal sizes alone do not tell
            return full.records[place.record].shape
    sides = list(zip(*(one.shape for one in measured)))
    own = [*letters.split(), *[""] * len(sides)]
    small, large = [one.sizes.axes for one in measured], sizes.axes
    axes = [_axis(side, letter, small, large) for side, letter in zip(sides, own)]
    known = [one for one in axes if one is not None]
    return tuple(known) if len(known) == len(axes) else None


def _axis(
    seen: Sequence[int], own: str, small: Sequence[Mapping[str, int]], large: Mapping[str, int]
) -> int | None:
    """The size in ``large`` that an axis called ``own`` follows, which was ``seen`` at ``small`` ones."""
    if set(seen) == {1} and own == "1":  # which some size may be in all examples, too
        return 1
    akin = _AKIN.get(own, "")  # rather than a size that is as large by chance
    for letter in (one for one in (own, akin, *large) if one in large):
        if all(axes[letter] == there for axes, there in zip(small, seen)):
            return large[letter]
    return seen[0] if len(set(seen)) == 1 else None


def of_one_image(shape: Shape, batch: int) -> Shape:
    """The assignment's shapes are those of one image."""
    return (1, *shape[1:]) if shape[:1] == (batch,) else shape
