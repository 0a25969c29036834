"""The first rows and columns of a tensor, as a debugger shows it."""

from __future__ import annotations

import math

from torch import Tensor

from ...reference.stages import Stage

_ROWS, _COLUMNS = 4, 6
_DIGITS = 6
_LEADING = {"B": "image", "h": "head", "N": "patch", "C": "channel", "T": "token", "1": "token"}

Numbers = list[list[float | None]]


LeadingSlice = tuple[Numbers, Numbers | None, str]  # what is there, what should be, and where


def leading_slice(row: Stage, there: Tensor, predicted: Tensor | None = None) -> LeadingSlice:
    """The first rows and columns of the last two axes, at the first index of those before."""
    student = _matrix(there)
    right = None if predicted is None or predicted.shape != there.shape else _matrix(predicted)
    letters = row.axes.split()[:-2]
    where = [f"{_LEADING.get(letter, letter)} 0" for letter in letters]
    rows, columns = min(_ROWS, student.shape[0]), min(_COLUMNS, student.shape[1])
    text = ", ".join([*where, f"rows 0–{rows - 1} by columns 0–{columns - 1}"])
    return _numbers(student), None if right is None else _numbers(right), text


def _matrix(tensor: Tensor) -> Tensor:
    while tensor.dim() > 2:
        tensor = tensor[0]
    return tensor.reshape(1, -1) if tensor.dim() < 2 else tensor


def _numbers(matrix: Tensor) -> Numbers:
    return [[rounded(float(one)) for one in line] for line in matrix[:_ROWS, :_COLUMNS]]


def rounded(number: float) -> float | None:
    """As many digits as are read; None where a number is not finite, which JSON cannot hold."""
    if not math.isfinite(number):
        return None
    return round(number, _DIGITS) if abs(number) > 1e-4 else float(f"{number:.3g}")
