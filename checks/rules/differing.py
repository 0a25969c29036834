"""How a student's tensor differs from the right one, in words: one number beside the other, and the ratio."""

from __future__ import annotations

from math import isclose, sqrt

import torch

from ...reference.model_sizes import ModelSizes
from ...reference.stages import Stage
from ..examining.passes.replay import Seen
from ..locating.comparing import ROUNDING
from ..locating.search.axes import names_of
from ..locating.search.nearness import factor, number, same
from ..locating.search.shapes import at_test_sizes, shaped

_DIGITS = (4, 6, 9, 13, 17)  # the last tells any two numbers of double precision apart
_MOST = 4096  # a root or a fraction of a larger number is a coincidence


def difference(row: Stage, seen: Seen, sizes: ModelSizes, *, ratio: bool = True) -> str:
    """Where the student's tensor is farthest from what the equation gives, in a sentence or two.

    Empty where they are equal but for rounding. ``ratio``: also say which multiple one is of the other.
    """
    student, right = seen.student, seen.right
    if student.shape != right.shape:
        return (
            f"Expected the shape {shaped(right.shape)}, got {shaped(student.shape)} {at_test_sizes(sizes)}."
        )
    if not seen.differs(ROUNDING):
        return ""
    position = int((student - right).abs().nan_to_num(float("inf")).argmax())
    index = tuple(int(one) for one in torch.unravel_index(torch.tensor(position), student.shape))
    expected, got = apart(float(right[index]), float(student[index]))
    places = [f"block {seen.step.block}"] if seen.step.block else []
    places += [f"{name} {at}" for name, at in zip(names_of(row.axes), index)]
    told = f"Expected {expected}, got {got} ({', '.join(places)})."
    return f"{told}{_multiple(row, seen, sizes)}" if ratio else told


def apart(expected: float, got: float) -> tuple[str, str]:
    """Two numbers with as many digits as show that they differ, four at least."""
    pairs = ((_digits(expected, digits), _digits(got, digits)) for digits in _DIGITS)
    found = next((one for one in pairs if one[0] != one[1]), None)
    return found or (_digits(expected, _DIGITS[-1]), _digits(got, _DIGITS[-1]))


def _digits(value: float, digits: int) -> str:
    return f"{value:#.{digits}g}".rstrip(".")


def _multiple(row: Stage, seen: Seen, sizes: ModelSizes) -> str:
    """A sentence where one tensor is a multiple of the other."""
    student, right = seen.student, seen.right
    if not bool(torch.isfinite(student).all() and torch.isfinite(right).all()):
        return ""
    times, _ = factor(student, right)
    if not times or not same(student, times * right):
        return ""
    root = _as_root(times)
    told = f"{number(times)} ({root})" if root else number(times)
    where = f", {at_test_sizes(sizes)}" if root else ""  # what it is the root of follows from the sizes
    return f" Yours is {told} times what {row.label} should be everywhere{where}."


def _as_root(times: float) -> str:
    """Such as "1/√2", where it is so exactly and is not a whole number."""
    size = abs(times)
    square = size * size if size > 1 else 1 / (size * size)
    whole = round(square)
    if not (2 <= whole <= _MOST) or not isclose(square, whole, rel_tol=1e-6):  # as same() goes, squared
        return ""
    root = sqrt(whole)
    is_whole = root == int(root)
    if size > 1:
        return "" if is_whole else f"{'-' if times < 0 else ''}√{whole}"
    return f"{'-' if times < 0 else ''}1/{int(root) if is_whole else f'√{whole}'}"
