"""Child side: what a freshly built model holds, before anything is given other values."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from itertools import islice

import torch
from torch import Tensor, nn

from ...questions.code_places import classes, consists_of
from ...questions.inventory import Inventory, ModelTensor
from ...questions.randomise import begins_as_waves, named_tensors
from ..tracing.tracing import RAN

_CLASSES = 12  # of a module, from its own to the one that all share
_MODULES = 2_000
_ROUNDING = 1e-5  # of sums of squares in float32


def inventory(build: Callable[[], nn.Module]) -> Inventory:
    """The tensors, modules and code of a model, and the names of parameters that a second one shares with it.

    Of its code, what has run in the passes so far is said as well.
    """
    model, second = build(), build()
    others = {id(one) for one in second.parameters()}
    registered = {id(one): "parameter" for one in model.parameters()}
    registered |= {id(one): "buffer" for one in model.buffers()}
    held = {id(row[1]): row for row in reversed([*named_tensors(model)])}  # once each, by its first name
    return Inventory(
        tensors=tuple(
            _held(name, one, registered.get(id(one), "hidden" if isinstance(one, nn.Parameter) else "tensor"))
            for name, one in reversed(held.values())
        ),
        modules={
            name: tuple(classes(type(one))[:_CLASSES])
            for name, one in islice(model.named_modules(), _MODULES)
        },
        codes=tuple(consists_of(model, RAN.values())),
        shared=tuple(name for name, one in model.named_parameters() if id(one) in others),
        repeated=tuple(name for name, one in islice(model.named_modules(), _MODULES) if _repeats(one)),
        redrawn=tuple(
            name
            for (name, one), (_, other) in zip(model.named_buffers(), second.named_buffers(), strict=False)
            if one.is_floating_point() and one.shape == other.shape and not torch.equal(one, other)
        ),
    )


def _repeats(module: nn.Module) -> bool:
    """Is it a list in which a module that learns has two places?"""
    if not isinstance(module, (nn.ModuleList, nn.Sequential)):
        return False
    learning = [id(one) for one in module._modules.values() if one is not None and [*one.parameters()]]
    return len(learning) > len(set(learning))


def _are_waves(table: Tensor) -> bool:
    """Has each row as many sines as cosines, of the same angles? The class token's may be empty."""
    if table.dim() < 2 or not table.numel():
        return False
    width = table.shape[-1]
    squares = table.reshape(-1, width).square().sum(-1)
    filled = squares[squares > 0]
    return bool(filled.numel() and ((filled - width / 2).abs() <= width % 2 / 2 + _ROUNDING * width).all())


def _held(name: str, tensor: Tensor, kind: str) -> ModelTensor:
    values = tensor.detach().double().flatten()
    several = values.numel() > 1
    spread = float(values.std()) if several else 0.0
    return ModelTensor(
        name=name,
        kind=kind,
        shape=tuple(tensor.shape),
        computed=tensor.grad_fn is not None,
        constant=not several or bool((values == values[0]).all()),
        zero=not bool(values.any()),
        waves=begins_as_waves(tensor) or _are_waves(tensor.detach().double()),
        spread=spread if math.isfinite(spread) else 0.0,
        digest=hashlib.sha256(values.numpy().tobytes()).hexdigest()[:16],
    )
