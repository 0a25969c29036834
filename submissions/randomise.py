"""Child side: random values for every parameter. Default initialisation (zeros, ones) hides mistakes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

_SPREAD_OF_VECTORS = 0.3  # norm weights stay around 1, biases stay smaller than what they are added to


@torch.no_grad()
def randomise(model: nn.Module, seed: int, fixed: Mapping[str, Tensor]) -> None:
    """Gives every parameter random values drawn from ``seed``, then sets those named in ``fixed``.

    Matrices get a spread of 1/sqrt(fan-in), which keeps scores near unit size: softmax is then neither flat
    nor saturated, and every wrong scale shows. Plain tensors and buffers are drawn only where they are
    constant, so that tables computed by a formula keep it.
    """
    generator = torch.Generator().manual_seed(seed)
    seen: set[int] = set()
    for name, tensor, is_parameter in named_tensors(model):
        if id(tensor) in seen or not tensor.is_floating_point() or not tensor.numel():
            continue
        seen.add(id(tensor))
        if is_parameter or (tensor.dim() > 1 and bool((tensor == tensor.flatten()[0]).all())):
            tensor.copy_(drawn(tensor, generator))
        if name in fixed:
            tensor.copy_(fixed[name].view_as(tensor))


def drawn(tensor: Tensor, generator: torch.Generator) -> Tensor:
    """Random values for a parameter of this shape; around 1 if it is all ones, as a norm's weight is."""
    normal = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
    if tensor.dim() <= 1:
        return _SPREAD_OF_VECTORS * normal + (1.0 if bool((tensor == 1).all()) else 0.0)
    if tensor.shape[0] == 1:  # class token, positions: as large as the patch embeddings
        return normal
    return normal / math.sqrt(tensor.numel() / tensor.shape[0])


def named_tensors(model: nn.Module) -> Iterator[tuple[str, Tensor, bool]]:
    """Every tensor that the model holds: registered, plain attributes, and in modules kept in lists.

    The third item says whether it is an ``nn.Parameter``. What is on the meta device, such as a template for
    ``torch.func.functional_call``, holds no numbers and is left out.
    """
    for prefix, module in all_modules(model):
        for attribute, value in _attributes(module).items():
            name = f"{prefix}.{attribute}" if prefix else attribute
            for suffix, one in _flatten(value):
                if isinstance(one, Tensor) and not one.is_meta:
                    yield name + suffix, one, isinstance(one, nn.Parameter)


def all_modules(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """Every module with its dotted name, those in plain lists and other attributes too."""
    found: list[tuple[str, nn.Module]] = []
    todo, seen = [("", model)], set()
    while todo:
        name, module = todo.pop(0)
        if id(module) in seen:
            continue
        seen.add(id(module))
        found.append((name, module))
        inside: list[tuple[str, nn.Module]] = []
        for attribute, value in _attributes(module).items():
            path = f"{name}.{attribute}" if name else attribute
            inside += [(path + suffix, one) for suffix, one in _flatten(value) if isinstance(one, nn.Module)]
        todo[:0] = inside  # depth first, so that what is shared has the name that torch gives it
    return found


def _attributes(module: nn.Module) -> dict[str, Any]:
    hidden = vars(module)
    plain = {name: value for name, value in hidden.items() if not name.startswith("_")}
    return {**hidden["_parameters"], **hidden["_buffers"], **hidden["_modules"], **plain}


def _flatten(value: object) -> list[tuple[str, object]]:
    if isinstance(value, (list, tuple)):
        return [
            (f".{number}{rest}", one) for number, item in enumerate(value) for rest, one in _flatten(item)
        ]
    if isinstance(value, dict):
        return [(f".{key}{rest}", one) for key, item in value.items() for rest, one in _flatten(item)]
    return [("", value)]
