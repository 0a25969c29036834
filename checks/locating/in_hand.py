"""What a pass that raised looked at, such as views that are no records of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from torch import Tensor

from ...submissions.host.trace import Reference
from .context import Context
from .search.nearness import fingerprint, same
from .walk import Walk


def at_hand(context: Context) -> Sequence[tuple[str, Reference]]:
    """What the failing call was given, then what its line had in variables."""
    failed = context.trace.failed
    return () if failed is None else (*failed.inputs, *failed.locals)


def is_in_hand(walk: Walk, tensor: Tensor) -> bool:
    """Had the failing line this tensor? False where the pass did not fail."""
    for _, reference in at_hand(walk.context):
        if "float" in walk.trace.value(reference).dtype:
            other = walk.trace.tensor(reference)
            turned = other.mT if other.dim() == 2 else other
            if any(one.shape == tensor.shape and same(one, tensor) for one in (other, turned)):
                return True
    return False


def is_made_last(walk: Walk, tensor: Tensor) -> bool:
    """Was it made at the end, as a view or by itself, and has nothing read it yet?

    Of one image it may have no axis for that.
    """
    shape = tuple(tensor.shape)
    shapes = (shape, shape[1:]) if shape[:1] == (1,) else (shape,)
    made = (one for one in (*walk.trace.unused_views, *_last(walk)) if one.shape in shapes)
    return any(same(walk.trace.tensor(one).reshape(shape), tensor) for one in made)


def _last(walk: Walk) -> Sequence[Reference]:
    """The last record, if it depends on the image."""
    last = walk.trace.records[-1]
    return (last.reference,) if last.image else ()


def is_looked_at(walk: Walk, tensor: Tensor) -> bool:
    """Is this tensor, its axes in any order, what an operation was given, or what the failing line had?

    Or a view that was made at the end. What lies in memory by chance, as a part of something larger, is not.
    """
    return bool(walk.once(("looked at", fingerprint(tensor)), lambda: _is_looked_at(walk, tensor)))


def _is_looked_at(walk: Walk, tensor: Tensor) -> bool:
    windows = (walk.trace.tensor(one) for one in _windows(walk))
    return any(is_turned(one, tensor) for window in windows for one in _parts(window))


def _parts(window: Tensor) -> Iterator[Tensor]:
    """Itself; of five axes query, key and value are together in it."""
    yield window
    for axis in range(window.dim()) if window.dim() == 5 else ():
        yield from window.unbind(axis) if window.shape[axis] == 3 else ()


def is_turned(one: Tensor, tensor: Tensor) -> bool:
    """Is it the same tensor, its axes in any order, or heads in the batch?"""
    sizes = sorted(one.shape)
    if sizes != sorted(tensor.shape) and (tensor.dim() != 4 or sizes != _folded(tensor)):
        return False
    for axes in permutations(range(tensor.dim())):
        turned = tensor.permute(axes)
        if turned.dim() > one.dim():
            turned = turned.flatten(0, 1)
        if turned.shape == one.shape and same(turned, one):
            return True
    return False


def _folded(tensor: Tensor) -> list[int]:
    return sorted((tensor.shape[0] * tensor.shape[1], *tensor.shape[2:]))


def _windows(walk: Walk) -> Iterator[Reference]:
    trace = walk.trace
    given = (one for record in trace.records for one in record.inputs)
    made = (record.reference for record in trace.records)
    hand = (one for _, one in at_hand(walk.context))
    every = dict.fromkeys((*given, *made, *hand, *trace.unused_views))
    return (one for one in every if trace.value(one).image and "float" in trace.value(one).dtype)
