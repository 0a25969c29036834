"""A linear map as a pass applies it: the ways in which a weight can be read as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from ....reference.equations import linear
from ....submissions.host.trace import Use
from ..comparing import Array
from ..context import Context


@dataclass(frozen=True)
class LinearMap:
    """A weight as consumed, read as a matrix in one of three ways, and perhaps a bias."""

    weight: Use
    form: str  # "out-in" | "in-out" | "inner": where the axis of the input stands
    bias: Use | None

    def matrix(self, context: Context, inputs: int) -> Tensor:
        """Shape (outputs, inputs)."""
        return as_matrix(context.use(self.weight), self.form, inputs)

    def vector(self, context: Context) -> Tensor | None:
        return None if self.bias is None else context.use(self.bias).reshape(-1)

    def __call__(self, context: Context, x: Tensor) -> Tensor:
        return linear(x, self.matrix(context, x.shape[-1]), self.vector(context))


def forms(shape: Sequence[int], inputs: int) -> list[str]:
    """The ways in which a weight of this shape can be read as a matrix with that many inputs."""
    found = []
    if inputs in np.cumprod(shape[::-1]):
        found.append("out-in")
    if inputs in np.cumprod(shape):
        found.append("in-out")
    if inputs in shape[1:-1]:
        found.append("inner")
    return found


def as_matrix(weight: Tensor, form: str, inputs: int) -> Tensor:
    """Shape (outputs, inputs)."""
    if form == "out-in":
        return weight.reshape(-1, inputs)
    if form == "in-out":
        return weight.reshape(inputs, -1).mT
    inner = 1 + tuple(weight.shape[1:-1]).index(inputs)
    return weight.movedim(inner, 0).reshape(inputs, -1).mT


@dataclass(frozen=True)
class Maps:
    """All maps of one number of inputs: two rows of each matrix, and those of each bias it may have."""

    candidates: list[tuple[Use, str]]
    biases: list[list[Use | None]]  # nearest first, none last
    rows: Array  # (n, 2, inputs)
    shifts: Array  # (n, biases, 2), without a number where there are fewer
    outputs: Array  # (n,)

    def picked(self, row: Array) -> Array:
        """The two elements of one token that each map predicts; not a number for maps of another width."""
        found = np.full((len(self.outputs), 2), np.nan)
        found[self.outputs == row.size] = row[[row.size // 2, row.size - 1]]
        return found


def distance(weight: Use, bias: Use) -> int:
    """How far a bias is from a weight, in records: it is rather added after the product than before."""
    later = bias.record - weight.record
    return 2 * later if later >= 0 else 1 - 4 * later
