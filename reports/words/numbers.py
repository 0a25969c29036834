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
_Cells = dict[tuple[int, int], float | None]


@dataclass(frozen=True)
class Axis:
    """One axis of a shape; ``letter`` is empty where the axis is not one of the expected."""

    letter: str
    size: int
    differs: bool


@dataclass(frozen=True)
class Cell:
    """The student's number, and where another is expected, that and how many times it is the student's.

    ``apart`` says how far they are from each other, from 0 to ``FURTHEST``.
    """

    seen: str
    expected: str = ""
    ratio: str = ""
    apart: int = 0


FURTHEST = 3  # beyond the tolerance, a hundredth, a tenth of what is expected

Grid = tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Slice:
    """The beginning of a tensor; ``differs`` where other numbers are expected, which the cells then hold."""

    of: str
    cells: Grid
    differs: bool


def expected_axes(stage: StageResult) -> tuple[Axis, ...]:
    """The expected shape by named axes."""
    sizes = stage.expected_shape
    letters = stage.axes.split() if len(stage.axes.split()) == len(sizes) else [""] * len(sizes)
    named = ("" if letter.isdigit() else one_line(letter) for letter in letters)  # "1" is its own size
    return tuple(Axis(letter, size, False) for letter, size in zip(named, sizes, strict=True))


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


def error(stage: StageResult) -> str:
    """The largest error and the tolerance; empty where nothing was measured."""
    largest, tolerance = stage.max_error, stage.tolerance
    return "" if largest is None or tolerance is None else _comparison(largest, tolerance)


def slice_of(stage: StageResult) -> Slice | None:
    """The student's values beside what the equation predicts; None where the record has none."""
    if not stage.values:
        return None
    seen, expected = _cells(stage.values), _cells(stage.expected_values or [])
    differing = _differing(seen, expected, stage.tolerance or 0.0) if expected else frozenset()
    digits = _digits(seen, expected, differing)
    beside = expected if differing else {}
    places = sorted(seen.keys() | beside.keys())
    cells = {at: _cell(at, seen, beside, at in differing, digits) for at in places}
    rows = tuple(
        tuple(cells[at] for at in places if at[0] == row) for row in sorted({row for row, _ in places})
    )
    return Slice(one_line(stage.values_of or ""), rows, bool(differing))


def _cell(at: tuple[int, int], seen: _Cells, expected: _Cells, differs: bool, digits: int) -> Cell:
    one, other = seen.get(at), expected.get(at)
    yours = _number(one, digits) if at in seen else say("stage.none")
    if not expected:
        return Cell(yours)
    right = _number(other, digits) if at in expected else say("stage.none")
    ratio = one / other if one is not None and other else math.nan
    told = numeral(ratio) if math.isfinite(ratio) else say("stage.none")
    return Cell(yours, right, told, _apart(ratio) if differs else 0)


def _apart(ratio: float) -> int:
    """By how much the ratio is not 1; as far as can be where there is no ratio."""
    off = abs(ratio - 1)
    return 1 + sum(not off <= limit for limit in (0.01, 0.1))


def _comparison(largest: float, tolerance: float) -> str:
    if not math.isfinite(largest):
        return say("error.not_finite", tolerance=numeral(tolerance, 2))
    if largest <= tolerance:
        return say("error.within", largest=numeral(largest, 2), tolerance=numeral(tolerance, 2))
    if not tolerance:
        return say("error.exact", largest=numeral(largest, 2))
    return say("error.beyond", largest=numeral(largest, 2), tolerance=numeral(tolerance, 2))


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


def _number(number: float | None, digits: int) -> str:
    return say("error.cell") if number is None or not math.isfinite(number) else f"{number:.{digits}g}"
