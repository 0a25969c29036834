"""Finding a predicted tensor among everything that a forward pass computed, in whatever layout.

Every value of the trace stands in one sorted array. One element of the prediction (the anchor) is looked up
in it, and per axis one neighbour of the anchor: where they lie in one record, the differences of position
are the strides of that axis, and one strided comparison of all elements settles it. Reshapes, transposes,
slices of larger tensors and folded axes need no case of their own, while a scrambled copy with the same set
of values is never mistaken for the tensor.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from ....submissions.host.trace import Reference, Trace
from ..comparing import ROUNDING, Array, any_bits, same_cells
from .anchors import anchors, step_along, strides_to

_NUMBERS = 4_000_000  # of a pass, among which a look-up counts twice
_PREDICTED = 50_000  # numbers that it takes as long to predict as to look one up
# the axes along which a tensor of so many may be computed slice by slice
_APART = {4: ((1,), (0,), (1, 0), (0, 2, 1), (0, 1, 2)), 3: ((0,), (1,), (0, 1)), 2: ((0,),)}
_HITS_KEPT = 48  # positions of one value that are followed up; only repeated values have more


@dataclass(frozen=True)
class Place:
    """Where a tensor lies: in the memory of ``record``, from ``offset`` on, with these strides."""

    record: int
    offset: int
    strides: tuple[int, ...]

    def window(self, shape: Sequence[int]) -> Reference:
        """The tensor of that shape that lies there."""
        return Reference("record", self.record, self.offset, tuple(shape), self.strides)


@dataclass(frozen=True)
class Found:
    """A tensor in one piece, or in one for each index along ``axes``, each in a place of its own."""

    places: tuple[Place, ...]
    axes: tuple[int, ...] = ()

    @property
    def record(self) -> int:
        """The record at which the tensor is complete."""
        return max(place.record for place in self.places)

    @property
    def first(self) -> int:
        """The record at which it begins: loops over heads, images, tokens compute what follows in between."""
        return min(place.record for place in self.places)

    @property
    def records(self) -> tuple[int, ...]:
        """All that it lies in, each once, in order."""
        return tuple(sorted({place.record for place in self.places}))


def places_in(trace: Trace, records: Sequence[int] | None = None) -> Places:
    """Everything that depends on the image, or the records that are named."""
    if records is None:
        records = [one.number for one in trace.records if one.image]
    chosen = [trace.records[number] for number in records]
    floats = (one for one in chosen if "float" in one.dtype)
    return Places({one.number: one.cells.numpy() for one in floats})


def is_at(place: Place, cells: Array, located: Sequence[int], array: Array) -> bool:
    """Is ``array`` all of the memory ``cells`` of a record, its axes in the order that ``place`` tells?

    ``located`` is the shape that the tensor had at ``place``; at other sizes the strides are others, and the
    order of axes is the same.
    """
    axes = [axis for axis, size in enumerate(located) if size > 1]
    order = sorted(axes, key=lambda axis: -place.strides[axis])
    rest = [axis for axis in range(array.ndim) if axis not in order]
    if array.ndim != len(located) or not array.size:
        return False
    return same_cells(array.transpose(*rest, *order).ravel(), cells)


class Places:
    """Finds tensors among flat arrays, each under a number. Raises nothing: what is not there is None."""

    def __init__(self, cells: Mapping[int, Array]) -> None:
        self._cells = dict(cells)
        self._numbers = np.array(list(cells), dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum([one.size for one in cells.values()])]).astype(np.int64)
        values = np.concatenate(list(cells.values())) if cells else np.empty(0)
        self.look_ups = 0  # searches for values, so that a walk can be bounded
        self._each = 1 + len(values) // _NUMBERS  # all that is done with what is found takes longer
        order = np.argsort(values, kind="stable")
        self._order = order.astype(np.int32) if len(order) < 2**31 else order  # half a pass of a large model
        self._sorted = values[self._order]

    def have(self, values: Array, scales: Array) -> npt.NDArray[np.bool_]:
        """Says for each row of ``values`` (n, k) whether all are somewhere, to rounding of ``scales`` (n)."""
        there: npt.NDArray[np.bool_] = np.asarray(np.isfinite(values).all(1))
        for column in range(values.shape[1]):
            rows = np.flatnonzero(there)
            slack = ROUNDING * scales[rows]
            low = self._sorted.searchsorted(values[rows, column] - slack)
            there[rows] = low < self._sorted.searchsorted(values[rows, column] + slack)
        self.look_ups += self._each
        return there

    def find(self, prediction: Tensor, after: int = -1) -> Found | None:
        """The first place of ``prediction`` in a record later than ``after``, whole or in slices.

        Slices are looked for along the axis of heads (of four axes the second), of images (the first), of
        tokens (of three axes the second, of four the third), and along several of them.
        A slice without two different values along some axis has no place.
        """
        array = np.ascontiguousarray(prediction.detach().numpy())
        self.look_ups += array.size // _PREDICTED
        if not np.isfinite(array).all():
            return self._whole_record(array, after)
        whole = next(self._places(array, after), None)
        # slices that are put together later, for a plot say, were there before the whole
        before = None if whole is None else whole.record
        for axes in _APART.get(array.ndim, ()) if self._has_largest(array, after, before) else ():
            over_tokens = array.ndim > 2 and array.ndim - 2 in axes  # in another order they are a mistake
            slices = self._slices(array, axes, after, before, in_turn=over_tokens)
            if slices:
                return Found(slices, axes)
        return None if whole is None else Found((whole,))

    def _whole_record(self, array: Array, after: int) -> Found | None:
        """Where a mask made numbers infinite, only a record that holds them all in their order will do."""
        flat, strides = array.ravel(), tuple(one // array.itemsize for one in array.strides)
        for number, cells in self._cells.items():
            if number > after and same_cells(flat, cells):
                return Found((Place(number, 0, strides),))
        return None

    def hold(self, prediction: Tensor, axes: tuple[int, ...]) -> bool:
        """Is ``prediction`` anywhere, apart along ``axes`` as ``Found`` has them? One slice is the whole."""
        array = np.ascontiguousarray(prediction.detach().numpy())
        if apart := tuple(axis for axis in axes if array.shape[axis] > 1):
            return bool(self._slices(array, apart, -1, None))
        if not np.isfinite(array).all():
            return self._whole_record(array, -1) is not None
        return next(self._places(array, -1), None) is not None

    def has_largest(self, numbers: Tensor, after: int) -> bool:
        """Is the largest of ``numbers`` in a record later than ``after``? Asking that takes one look-up."""
        return self._has_largest(np.ascontiguousarray(numbers.detach().numpy()), after, None)

    def _has_largest(self, array: Array, after: int, before: int | None) -> bool:
        scale = float(np.abs(array).max()) if array.size else 0.0
        if not np.isfinite(scale) or scale == 0.0:
            return False
        low, high = self._span(array.flat[int(np.abs(array).argmax())], scale)
        rows = np.searchsorted(self._starts, self._order[low:high], "right") - 1
        records = self._numbers[rows]
        return bool(((records > after) & (records < (np.inf if before is None else before))).any())

    def _slices(
        self, array: Array, axes: tuple[int, ...], after: int, before: int | None, in_turn: bool = False
    ) -> tuple[Place, ...]:
        """A place for each slice, in records earlier than ``before``; none where one is missing.

        Those that are ``in_turn`` are each in a later record than the one before. One that was found already
        is looked for behind that: the row of a class token may be the same in all images.
        """
        apart = np.moveaxis(array, axes, range(len(axes)))
        if 1 in apart.shape[: len(axes)]:
            return ()
        found: list[Place] = []
        for one in apart.reshape(-1, *apart.shape[len(axes) :]):
            place = next(self._places(one, after), None)
            if in_turn and found and place is not None and place.record <= found[-1].record:
                place = next(self._places(one, found[-1].record), None) if place in found else None
            if place is None or (before is not None and place.record >= before):
                return ()
            found.append(place)
        return tuple(found)

    def all(self, prediction: Tensor, after: int = -1) -> list[Place]:
        """Every place of ``prediction`` in one piece, earliest record first."""
        return list(self._places(np.ascontiguousarray(prediction.detach().numpy()), after))

    def at(self, place: Place, shape: Sequence[int]) -> Array:
        """The numbers at ``place``; the caller vouches that they lie inside of the record."""
        cells = self._cells[place.record]
        strides = [one * cells.itemsize for one in place.strides]
        return np.lib.stride_tricks.as_strided(cells[place.offset :], shape, strides, writeable=False)

    def _span(self, value: float, scale: float) -> tuple[int, int]:
        self.look_ups += self._each
        slack = ROUNDING * scale
        low, high = self._sorted.searchsorted((value - slack, value + slack))
        return int(low), int(high)

    def _hits(self, value: float, scale: float) -> dict[int, list[int]] | None:
        """Positions of a value by record; None where there are too many, as of the zeros of ReLU."""
        low, high = self._span(value, scale)
        if high - low > _HITS_KEPT * 8:
            return None
        flat = self._order[low:high]
        rows = np.searchsorted(self._starts, flat, "right") - 1
        found: dict[int, list[int]] = {}
        for row, position in zip(rows.tolist(), (flat - self._starts[rows]).tolist(), strict=False):
            found.setdefault(int(self._numbers[row]), []).append(position)
        return found

    def _places(self, array: Array, after: int) -> Iterator[Place]:
        scale = float(np.abs(array).max()) if array.size else 0.0
        if not np.isfinite(scale) or scale == 0.0:
            return
        for anchor, hits in self._anchored(array, after, scale):
            neighbours = self._neighbours(array, anchor, scale)
            if neighbours is None:
                continue
            for record in sorted(hits):
                yield from self._verified(array, anchor, record, hits[record], neighbours, scale)
            return

    def _anchored(
        self, array: Array, after: int, scale: float
    ) -> Iterator[tuple[tuple[int, ...], dict[int, list[int]]]]:
        """Anchors with the positions of their values by record, those last that are repeated a lot.

        One that is in no record ends them.
        """
        often = []
        for anchor in anchors(array):
            everywhere = self._hits(array[anchor], scale)
            if everywhere is None:
                continue
            hits = {record: found for record, found in everywhere.items() if record > after}
            if not hits:
                return
            if max(map(len, hits.values())) > _HITS_KEPT:
                often.append((anchor, hits))
            else:
                yield anchor, hits
        yield from often

    def _neighbours(
        self, array: Array, anchor: tuple[int, ...], scale: float
    ) -> list[tuple[int, dict[int, list[int]]]] | None:
        """Per axis the step to a neighbour of the anchor and the positions of its value.

        None where an axis has no neighbour that tells it.
        """
        found: list[tuple[int, dict[int, list[int]]]] = []
        for axis, size in enumerate(array.shape):
            if size == 1:
                found.append((0, {}))
                continue
            step = step_along(array, anchor, axis, scale)
            if step is None:
                return None
            other = (*anchor[:axis], anchor[axis] + step, *anchor[axis + 1 :])
            hits = self._hits(array[other], scale)
            if hits is None:
                return None
            found.append((step, hits))
        return found

    def _verified(
        self,
        array: Array,
        anchor: tuple[int, ...],
        record: int,
        positions: list[int],
        neighbours: list[tuple[int, dict[int, list[int]]]],
        scale: float,
    ) -> Iterator[Place]:
        cells = self._cells[record]
        for position in positions[:_HITS_KEPT]:
            choices = [
                [0] if step == 0 else strides_to(position, hits.get(record, []), step)
                for step, hits in neighbours
            ]
            for strides in itertools.islice(itertools.product(*choices), 64):
                offset = position - sum(
                    index * stride for index, stride in zip(anchor, strides, strict=False)
                )
                last = offset + sum(
                    (size - 1) * stride for size, stride in zip(array.shape, strides, strict=False)
                )
                if offset < 0 or last >= cells.size:
                    continue
                place = Place(record, offset, strides)
                with any_bits():
                    error = np.abs(self.at(place, array.shape) - array).max()
                if error <= ROUNDING * scale:
                    yield place
                    return
