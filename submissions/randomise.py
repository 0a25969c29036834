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


def seed_random_state(seed: int) -> None:
    """Seeds the random numbers of the CPU; ``torch.manual_seed`` spends a millisecond on accelerators."""
    torch.default_generator.manual_seed(seed)


def named_tensors(model: nn.Module) -> Iterator[tuple[str, Tensor, bool]]:
    """Every tensor that the model holds: registered, plain attributes, and in modules kept in lists.

    The third item says whether it is an ``nn.Parameter``. What is on the meta device, such as a template for
    ``torch.func.functional_call``, holds no numbers and is left out.
    """
    for _, _, held in _walk(model):
        for name, one in held:
            if isinstance(one, Tensor) and not one.is_meta:
                yield name, one, isinstance(one, nn.Parameter)


def all_modules(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """Every module with its dotted name, those in plain lists and other attributes too."""
    return [(name, module) for name, module, _ in _walk(model)]


def _walk(model: nn.Module) -> Iterator[tuple[str, nn.Module, list[tuple[str, object]]]]:
    """Each module with its dotted name, and with what it holds directly, by dotted name too."""
    todo, seen = [("", model)], set()
    while todo:
        prefix, module = todo.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        held = [
            (f"{prefix}.{path}" if prefix else path, one)
            for attribute, value in _attributes(module)
            for path, one in _flatten(attribute, value)
        ]
        yield prefix, module, held
        inside = [(name, one) for name, one in held if isinstance(one, nn.Module)]
        todo += reversed(inside)  # depth first, so that what is shared has the name that torch gives it


def _attributes(module: nn.Module) -> Iterator[tuple[str, Any]]:
    hidden = vars(module)
    for registered in ("_parameters", "_buffers", "_modules"):
        yield from hidden[registered].items()
    yield from ((name, value) for name, value in hidden.items() if not name.startswith("_"))


def _flatten(path: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _flatten(f"{path}.{number}", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _flatten(f"{path}.{key}", item)
    else:
        yield path, value
