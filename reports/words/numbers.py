"""Shapes, errors and values of a stage, as they are shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...checks.record.result import StageResult
from .text import numeral, one_line
from .wording import say

_SIDE = 8  # of a slice of values, in cells: what fits on a page
_DIGITS = range(4, 16)  # significant digits: four are easy to read, sixteen are all there are
# powers of ten at the ends of the error scale: below float64 rounding, to plainly wrong
_SMALLEST, _LARGEST = -17, 3


@dataclass(frozen=True)
class Axis:
    """One axis of a shape; ``letter`` is empty where the axis is not one of the expected."""

    letter: str
    size: int
    differs: bool


@dataclass(frozen=True)
class Error:
    """The largest error in words; it and the tolerance as places on the scale, in per cent of its width."""

    text: str
    position: float
    tolerance_position: float


@dataclass(frozen=True)
class Cell:
    """A number; ``differs`` by more than the tolerance from what is expected."""

    text: str
    differs: bool


Grid = tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Slice:
    """The beginning of a tensor; ``expected`` is empty where it says nothing that ``seen`` does not."""

    of: str
    seen: Grid
    expected: Grid


def expected_axes(stage: StageResult) -> tuple[Axis, ...]:
    """The expected shape by named axes."""
    sizes = stage.expected_shape
    letters = stage.axes.split() if len(stage.axes.split()) == len(sizes) else [""] * len(sizes)
    return tuple(Axis(one_line(letter), size, False) for letter, size in zip(letters, sizes, strict=True))


def seen_axes(stage: StageResult) -> tuple[Axis, ...]:
    """The shape that the student's tensor has; empty if there is none."""
    expected, shape = expected_axes(stage), stage.shape or []
    if len(expected) != len(shape):
        return tuple(Axis("", size, True) for size in shape)
    return tuple(
        Axis(axis.letter, size, size != axis.size) for axis, size in zip(expected, shape, strict=True)
    )


def shape_text(axes: Sequence[Axis]) -> str:
    """Letters and sizes, with times signs between them: B 1, T 197, D 768."""
    return " × ".join(f"{axis.letter} {axis.size}".strip() if axis.letter != "1" else "1" for axis in axes)


def error(stage: StageResult) -> Error | None:
    """None where nothing was measured."""
    largest, tolerance = stage.max_error, stage.tolerance
    if largest is None or tolerance is None:
        return None
    return Error(_comparison(largest, tolerance), _position(largest), _position(tolerance))


def slice_of(stage: StageResult) -> Slice | None:
    """The student's values beside what the equation predicts; None where the record has none."""
    if not stage.values:
        return None
    seen, expected = _cells(stage.values), _cells(stage.expected_values or [])
    differing = _differing(seen, expected, stage.tolerance or 0.0) if expected else frozenset()
    digits = _digits(seen, expected, differing)
    return Slice(
        one_line(stage.values_of or ""),
        _grid(seen, differing, digits),
        _grid(expected, differing, digits) if differing else (),
    )


def _comparison(largest: float, tolerance: float) -> str:
    if not math.isfinite(largest):
        return say("error.not_finite", tolerance=numeral(tolerance, 2))
    if largest <= tolerance:
        return say("error.within", largest=numeral(largest, 2), tolerance=numeral(tolerance, 2))
    if not tolerance:
        return say("error.exact", largest=numeral(largest, 2))
    return say("error.beyond", largest=numeral(largest, 2), tolerance=numeral(tolerance, 2))


def _position(number: float) -> float:
    if not math.isfinite(number):
        return 100.0
    power = math.log10(number) if number > 0 else _SMALLEST
    share = (power - _SMALLEST) / (_LARGEST - _SMALLEST)
    return round(100 * min(max(share, 0.0), 1.0), 1)


_Cells = dict[tuple[int, int], float | None]


def _cells(values: Sequence[Sequence[float | None]]) -> _Cells:
    return {(i, j): one for i, row in enumerate(values[:_SIDE]) for j, one in enumerate(row[:_SIDE])}


def _differing(seen: _Cells, expected: _Cells, tolerance: float) -> frozenset[tuple[int, int]]:
    def differs(at: tuple[int, int]) -> bool:
        if at not in seen or at not in expected:
            return True
        one, other = seen[at], expected[at]
        if one is None or other is None:
            return one is not other
        return not abs(one - other) <= tolerance  # also where a difference is not a number

    return frozenset(at for at in seen.keys() | expected.keys() if differs(at))


def _digits(seen: _Cells, expected: _Cells, differing: frozenset[tuple[int, int]]) -> int:
    """As few as show that the differing cells differ."""
    pairs = [(seen[at], expected[at]) for at in differing if at in seen and at in expected]
    for digits in _DIGITS:
        if all(_number(one, digits) != _number(other, digits) for one, other in pairs):
            return digits
    return _DIGITS[-1]


def _grid(cells: _Cells, differing: frozenset[tuple[int, int]], digits: int) -> Grid:
    rows = sorted({row for row, _ in cells})
    return tuple(
        tuple(Cell(_number(cells[at], digits), at in differing) for at in sorted(cells) if at[0] == row)
        for row in rows
    )


def _number(number: float | None, digits: int) -> str:
    return say("error.cell") if number is None or not math.isfinite(number) else f"{number:.{digits}g}"
