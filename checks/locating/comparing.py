"""When two tensors count as one: how they are compared, and what each tolerance is for.

A tolerance is relative to the largest number of the right tensor. All are compared in float64, whatever they
were computed in.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Array = npt.NDArray[np.float64]

# Two correct formulations of one stage differ by at most 5e-15 (convolution against unfold, fused against
# explicit attention, an image alone or in a batch), and after a chain of 26 equations over three blocks by
# 1e-12; the smallest mistake of the catalogue moves 3e-7.
ROUNDING = 1e-9
# What is left of an exact relation, such as a multiple, is far below; what a difference leaves far above.
RELATION = 1e-7
# Of rows that are divided by their spread, and of probabilities down to 1e-16 that go through a logarithm.
ORDER = 1e-6
# The scores of two random images differ by more.
DIFFERENT = 1e-6
# float32 keeps 7 digits, of which a chain of three blocks loses one or two; a mistake changes the second.
SINGLE = 1e-3
# One operation in float32, or with a constant of it, among others in float64: half a unit in its last place,
# a few of them for a norm or a sum.
IN_SINGLE = 1e-6
# The scores of a program that is still to be looked at in full: the eps of a norm that is wrong is a guess.
LIKELY = 1e-3
# What an iteration gives; the nearest wrong answers differ by a tenth.
ITERATED = 1e-5
# A table that is computed in float32.
TABLE = 1e-5
# A traced pass takes fused kernels apart, which in float32 moves numbers by 1e-6; no cheat gains from less.
TRACED = 1e-4
# Code that plots often casts to float32 on the way.
PLOTTED = 1e-4
# to compute in: memory that nobody has written to, as of ``torch.empty``, holds anything
any_bits = partial(np.errstate, over="ignore", invalid="ignore")

# A model may return its scores in a smaller type than it computes them in: a few units in the last place of
# that, as softmax makes them.
_OF_TYPE = {"float64": ROUNDING, "float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2, "float8": 0.1}


def rounding_of(dtype: str) -> float:
    """What scores are rounded by that are returned in this type."""
    return _OF_TYPE.get(dtype, _OF_TYPE["float8" if "float8" in dtype else "float64"])


def equal(student: Tensor, right: Tensor, tolerance: float = ROUNDING) -> bool:
    """Are they of one shape, and no further apart than that? What is not finite is equal to nothing."""
    if student.shape != right.shape or not right.numel():
        return student.shape == right.shape
    return bool((student - right).abs().max() <= tolerance * right.abs().max())


def has_all(tensor: Tensor, numbers: Tensor) -> bool:
    """Is each of these numbers somewhere in the tensor?"""
    there = tensor.flatten().sort().values
    slack = ROUNDING * numbers.abs().max()
    low, high = (torch.searchsorted(there, numbers.flatten() + one) for one in (-slack, slack))
    return bool((low < high).all())


def far(a: Tensor, b: Tensor, tolerance: float = ROUNDING) -> bool:
    """Do two tensors differ in shape, or by more than that? For tensors of which some are nearly nothing.

    What a mask has made infinite in both alike is the same; NaN is far from everything.
    """
    if a.shape != b.shape or not a.numel():
        return a.shape != b.shape
    apart = (a - b).abs().where(a != b, 0.0)
    largest = b.abs().nan_to_num(0.0, posinf=0.0).max()
    return not bool(apart.max() <= tolerance * (1 + largest))


def same_cells(array: Array, cells: Array) -> bool:
    """Are the numbers equal to rounding, and those that a mask has made infinite to the sign?"""
    if array.size != cells.size:
        return False
    finite = np.isfinite(cells)
    if not finite.all():
        if not np.array_equal(array[~finite], cells[~finite]):
            return False
        array, cells = array[finite], cells[finite]
    return bool(np.abs(array - cells).max(initial=0.0) <= ROUNDING * np.abs(cells).max(initial=0.0))
