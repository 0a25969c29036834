"""Elements of a predicted tensor that tell where it lies: large ones, and neighbours of theirs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..comparing import ROUNDING, Array

_NEAR_ZERO = 1e-3  # relative: such values are not told apart well
_ANCHORS = 6


def strides_to(position: int, others: list[int], step: int) -> list[int]:
    """The strides at which one of ``others`` lies ``step`` elements from ``position``."""
    found = [(other - position) // step for other in others if (other - position) % step == 0]
    return sorted(one for one in found if one > 0)


def anchors(array: Array) -> Iterator[tuple[int, ...]]:
    """Large elements off the first row of every axis: that row is the class token, equal for all images."""
    inner = array[tuple(slice(1, None) if size > 1 else slice(None) for size in array.shape)]
    shift = [1 if size > 1 else 0 for size in array.shape]
    flat = np.abs(inner).ravel()
    for _ in range(min(_ANCHORS, flat.size)):
        position = int(flat.argmax())
        index = np.unravel_index(position, inner.shape)
        yield tuple(int(one) + more for one, more in zip(index, shift, strict=True))
        flat[flat >= flat[position] * (1 - ROUNDING)] = -1.0  # the next largest is asked for rarely


def step_along(array: Array, anchor: tuple[int, ...], axis: int, scale: float) -> int | None:
    """How far to the nearest element along ``axis`` that differs from the anchor."""
    index: tuple[int | slice, ...] = (*anchor[:axis], slice(None), *anchor[axis + 1 :])
    line, at, value = array[index], anchor[axis], array[anchor]
    for other in (at - 1, at + 1):  # nearly always one of these will do
        if not 0 < other < len(line) or abs(line[other]) <= _NEAR_ZERO * scale:
            continue
        if abs(line[other] - value) > 10 * ROUNDING * scale:
            return other - at
    different = np.flatnonzero(np.abs(line - array[anchor]) > 10 * ROUNDING * scale)
    if not different.size:
        return None
    distances = different - anchor[axis]
    # row 0 last: the class token's row has one value at several images; an activation has many near zero
    zero = np.abs(line[different]) <= _NEAR_ZERO * scale
    cost = np.abs(distances) + array.shape[axis] * ((different == 0).astype(int) + 2 * zero)
    return int(distances[np.argmin(cost)])
