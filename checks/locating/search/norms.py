"""Normalisations as a pass applies them: how they standardise, and with which parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from ....submissions.host.trace import Trace, Use
from ..context import Context
from ..forms import NORMS, Form

EPS = (
    1e-5,
    1e-6,
    1e-12,
    1e-8,
    1e-3,
    0.0,
)  # PyTorch's default, timm and torchvision, ports of TensorFlow, others
LARGEST = 1e-2  # of an eps that is meant: some ports have 0.001
IN_BLOCKS = 0.75  # by how much a norm of the blocks is rather none before them: as a mistake costs 1, by more
_MOST = 8  # others that the code adds, all less than 1
_BIAS_WITHIN = 8  # records between the use of a norm's weight and that of its bias

Affine = tuple[Use | None, Use | None]  # weight and bias


@dataclass(frozen=True)
class Norm:
    """A normalisation: how it standardises, its parameters as consumed, its eps."""

    weight: Use | None
    bias: Use | None
    eps: float
    form: Form = NORMS[0]

    def __call__(self, context: Context, x: Tensor) -> Tensor:
        return affine(context, self.form.function(x, self.eps), self.weight, self.bias)

    def right(self, context: Context, x: Tensor) -> Tensor:
        """What LayerNorm gives with the same parameters."""
        return affine(context, NORMS[0].function(x, self.eps), self.weight, self.bias)

    @property
    def ids(self) -> tuple[str, ...]:
        """Of what is unusual about it, its eps aside."""
        plain = ("layernorm-no-affine",) if self.weight is None else ()
        return plain if self.form.id is None else (self.form.id, *plain)


@dataclass(frozen=True)
class BatchNorm:
    """Batch norm in eval mode: mean and variance are numbers that it keeps."""

    weight: Use
    bias: Use
    mean: Use
    variance: Use
    eps: float

    def __call__(self, context: Context, x: Tensor) -> Tensor:
        centred = x - context.use(self.mean)
        standardised = centred / torch.sqrt(context.use(self.variance) + self.eps)
        return affine(context, standardised, self.weight, self.bias)

    def right(self, context: Context, x: Tensor) -> Tensor:
        """What LayerNorm gives with the same parameters."""
        return affine(context, NORMS[0].function(x, self.eps), self.weight, self.bias)

    @property
    def ids(self) -> tuple[str, ...]:
        return ("batchnorm-instead-of-layernorm",)


def affine(context: Context, x: Tensor, weight: Use | None, bias: Use | None) -> Tensor:
    scaled = x if weight is None else x * _fitted(context.use(weight), x)
    return scaled if bias is None else scaled + _fitted(context.use(bias), x)


def standardised(context: Context, normed: Tensor, norm: Norm) -> Tensor:
    """What the output of a norm was before its weight and bias."""
    shifted = normed if norm.bias is None else normed - _fitted(context.use(norm.bias), normed)
    return shifted if norm.weight is None else shifted / _fitted(context.use(norm.weight), normed)


def _fitted(numbers: Tensor, x: Tensor) -> Tensor:
    """One for each feature, or of a norm over tokens, too, for each of them."""
    return numbers.reshape(-1 if numbers.numel() == x.shape[-1] else x.shape[1:])


def affines(vectors: Sequence[Use]) -> Iterator[Affine]:
    """Pairs of vectors that could be a norm's weight and bias, in order of use, then none.

    One operation that multiplies and adds may read the bias first, as ``torch.addcmul`` does.
    """
    for position, weight in enumerate(vectors):
        for bias in vectors[position + 1 : position + 3]:
            if bias.record - weight.record <= _BIAS_WITHIN:
                yield weight, bias
            if bias.record == weight.record:
                yield bias, weight
        yield weight, None
    yield None, None


def batch_norms(trace: Trace, after: int, width: int) -> Iterator[BatchNorm]:
    """The library's batch norms of ``width`` features that ran after a record."""
    for record in trace.records[after + 1 :]:
        if "batch_norm" in record.op and len(record.inputs) == 5 and record.inputs[1].shape == (width,):
            weight, bias, mean, variance = (Use(record.number, position) for position in range(1, 5))
            yield BatchNorm(weight, bias, mean, variance, record.scalars[-1])


def epsilons(trace: Trace) -> tuple[float, ...]:
    """Small numbers that the code adds to something, then the usual ones, which are near others."""
    adding = (one for one in trace.records if one.op.startswith(("add.", "native_layer_norm")))
    small = dict.fromkeys(number for one in adding for number in one.scalars if 0 < number < 1)
    return tuple(dict.fromkeys((*islice(small, _MOST), *EPS)))


def tokens_normed(form: Form, x: Tensor, index: tuple[int, ...], every: Sequence[float]) -> Tensor:
    """One token normed with each eps: eps D."""
    if form.whole:
        return torch.stack([form.function(x, eps)[index] for eps in every])
    each = torch.tensor(every, dtype=x.dtype)[:, None]
    result: Tensor = form.function(x[index].expand(len(every), -1), each)
    return result


def is_in_blocks(trace: Trace, norm: Norm | BatchNorm) -> bool:
    """Is it one of a list: has the next place of the list a parameter of the same name?"""
    kind, number, *_ = trace.used(norm.weight) if norm.weight else trace.image
    name = trace.leaves[number].name.split(".") if kind == "leaf" else []
    names = {one.name for one in trace.leaves}
    places = (at for at, part in enumerate(name) if part.isdecimal())
    return any(".".join((*name[:at], str(int(name[at]) + 1), *name[at + 1 :])) in names for at in places)
