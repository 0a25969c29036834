"""Which parameters turn one tensor into another that the pass computed: linear maps and norms.

Candidates are what the pass consumed, in the order of use, as it was consumed (a slice of a packed matrix is a
candidate of its own). For each, the output of one token is predicted, and only if two of its elements
are anywhere in the trace is the whole tensor computed and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from ...reference.equations import linear
from ...submissions.trace import Use
from .context import Context
from .forms import NORMS, Form
from .places import Found, Places

EPS = (1e-5, 1e-6, 1e-12, 1e-8, 1e-3, 0.0)  # PyTorch's default, timm and torchvision, ports of TensorFlow, others
_BIASES_TRIED = 6
_NORMS_TRIED = 12
_BIAS_WITHIN = 8  # records between a product and the addition of its bias


@dataclass(frozen=True)
class Linear:
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


def forms(weight: Tensor, inputs: int) -> list[str]:
    """The ways in which ``weight`` can be read as a matrix with that many inputs."""
    found = []
    count = 1
    for size in reversed(weight.shape):
        count *= size
        if count == inputs:
            found.append("out-in")
            break
    count = 1
    for size in weight.shape:
        count *= size
        if count == inputs:
            found.append("in-out")
            break
    if inputs in weight.shape[1:-1]:
        found.append("inner")
    return found


def as_matrix(weight: Tensor, form: str, inputs: int) -> Tensor:
    if form == "out-in":
        return weight.reshape(-1, inputs)
    if form == "in-out":
        return weight.reshape(inputs, -1).mT
    inner = 1 + tuple(weight.shape[1:-1]).index(inputs)
    return weight.movedim(inner, 0).reshape(inputs, -1).mT


@dataclass(frozen=True)
class Norm:
    """A normalisation: how it standardises, its parameters as consumed, its eps."""

    weight: Use | None
    bias: Use | None
    eps: float
    form: Form = NORMS[0]

    def __call__(self, context: Context, x: Tensor) -> Tensor:
        return self._affine(context, self.form.function(x, self.eps))

    def right(self, context: Context, x: Tensor) -> Tensor:
        """What LayerNorm gives with the same parameters."""
        return self._affine(context, NORMS[0].function(x, self.eps))

    def _affine(self, context: Context, x: Tensor) -> Tensor:
        scaled = x if self.weight is None else x * context.use(self.weight).reshape(-1)
        return scaled if self.bias is None else scaled + context.use(self.bias).reshape(-1)

    @property
    def ids(self) -> tuple[str, ...]:
        """Of what is unusual about it, its eps aside."""
        plain = ("layernorm-no-affine",) if self.weight is None else ()
        return plain if self.form.id is None else (self.form.id, *plain)


class Parameters:
    """Finds maps between tensors of one trace."""

    def __init__(self, context: Context, places: Places) -> None:
        self._context = context
        self._places = places

    @cached_property
    def uses(self) -> list[Use]:
        """Every consumption of a floating-point parameter, in order, each distinct window once a record."""
        trace = self._context.trace
        return [
            use
            for use in trace.uses
            if "float" in trace.value(trace.used(use)).dtype and trace.value(trace.used(use)).cells is not None
        ]

    def of_size(self, count: int, after: int = -1, within: int | None = None) -> list[Use]:
        trace = self._context.trace
        last = len(trace.records) if within is None else after + within
        return [
            use for use in self.uses if after < use.record <= last and _numel(trace.used(use).shape) == count
        ]

    def linears(
        self, x: Tensor, after: int, outputs: int | None = None
    ) -> Iterator[tuple[Linear, Tensor, Found]]:
        """Every linear map of ``x`` (…, n) whose whole result is in the trace, in order of use."""
        inputs = x.shape[-1]
        row = x[_middle_index(x)]
        trace = self._context.trace
        for use in self.uses:
            count = _numel(trace.used(use).shape)
            if use.record <= after or count % inputs or (outputs and count != outputs * inputs) or count < inputs:
                continue
            weight = self._context.use(use)
            for form in forms(weight, inputs):
                found = self._linear(x, row, use, form, as_matrix(weight, form, inputs), after)
                if found:
                    yield found
                    break

    def _linear(
        self, x: Tensor, row: Tensor, use: Use, form: str, matrix: Tensor, after: int
    ) -> tuple[Linear, Tensor, Found] | None:
        picks = sorted({matrix.shape[0] // 2, matrix.shape[0] - 1})
        products = (matrix[picks] @ row).tolist()
        scale = float(row.norm() * matrix[picks].norm()) or 1.0
        nearby = [] if matrix.shape[0] == 1 else self._biases(matrix.shape[0], use)
        for bias in [*nearby, None]:
            shift = [0.0] * len(picks) if bias is None else self._context.use(bias).reshape(-1)[picks].tolist()
            if all(self._places.has(one + more, scale * 1e-3) for one, more in zip(products, shift)):
                candidate = Linear(use, form, bias)
                result = candidate(self._context, x)
                found = self._places.find(result, after)
                if found:
                    return candidate, result, found
        return None

    def _biases(self, outputs: int, weight: Use) -> list[Use]:
        near = self.of_size(outputs, weight.record - 1, _BIAS_WITHIN)
        return [one for one in near if one != weight][:_BIASES_TRIED]

    def norms(
        self, x: Tensor, after: int, table: Sequence[Form] = NORMS[:1]
    ) -> Iterator[tuple[Norm, Tensor, Found]]:
        """Every norm of ``x`` (…, D) in the trace, next used weights first, affine before plain."""
        index = _middle_index(x)
        picks = [x.shape[-1] // 2, x.shape[-1] - 1]
        plain = {
            (form, eps): (form.function(x, eps)[index] if form.id else form.function(x[index], eps))[picks].tolist()
            for form in table
            for eps in EPS
        }
        for weight, bias in self.affines(x.shape[-1], after):
            scale = [1.0, 1.0] if weight is None else self._context.use(weight).reshape(-1)[picks].tolist()
            shift = [0.0, 0.0] if bias is None else self._context.use(bias).reshape(-1)[picks].tolist()
            for (form, eps), values in plain.items():
                if all(self._places.has(v * s + b, 1.0) for v, s, b in zip(values, scale, shift)):
                    candidate = Norm(weight, bias, eps, form)
                    result = candidate(self._context, x)
                    found = self._places.find(result, after)
                    if found:
                        yield candidate, result, found
                        break

    def affines(self, width: int, after: int) -> Iterator[tuple[Use | None, Use | None]]:
        """Pairs of vectors that could be a norm's weight and bias, next used first, then none."""
        vectors = self.of_size(width, after)[:_NORMS_TRIED]
        for position, weight in enumerate(vectors):
            for bias in vectors[position + 1 : position + 3]:
                if bias.record - weight.record <= _BIAS_WITHIN:
                    yield weight, bias
            yield weight, None
        yield None, None

    def leaf(self, use: Use) -> tuple[str, int]:
        """What a use reads, so that two uses of one parameter can be told from two parameters."""
        reference = self._context.trace.used(use)
        return reference.kind, reference.number


def _middle_index(x: Tensor) -> tuple[int, ...]:
    """One token: not of the first image, not the class token."""
    return tuple(min(1, size - 1) if axis == 0 else size // 2 for axis, size in enumerate(x.shape[:-1]))


def _numel(shape: Sequence[int]) -> int:
    return int(torch.Size(shape).numel())
