"""Child side: random values for every parameter. Default initialisation (zeros, ones) hides mistakes."""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

# most attributes are numbers, which are passed over at once
_HOLDING = (Tensor, nn.Module, list, tuple, dict)
_SPREAD_OF_VECTORS = 0.3  # norm weights stay around 1, biases stay smaller than what they are added to


def randomise(model: nn.Module, seed: int, fixed: Mapping[str, Tensor]) -> None:
    """As ``randomise_held`` does, all that the model holds."""
    randomise_held(named_tensors(model), seed, fixed)


@torch.no_grad()
def randomise_held(held: Iterable[tuple[str, Tensor]], seed: int, fixed: Mapping[str, Tensor]) -> None:
    """Gives every parameter of ``named_tensors`` random values drawn from ``seed``, then sets what is fixed.

    Matrices get a spread of 1/sqrt(fan-in), which keeps scores near unit size: softmax is then neither flat
    nor saturated, and every wrong scale shows. Plain tensors and buffers are drawn only where they are
    constant, so that tables computed by a formula keep it.
    """
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in floating(held):
        if is_drawn(tensor):
            tensor.copy_(drawn(tensor, generator))
        if name in fixed:
            tensor.copy_(fixed[name].view_as(tensor))


def floating(held: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
    """Every tensor that holds floating point numbers, once, by its first name."""
    seen: set[int] = set()
    for name, tensor in held:
        if id(tensor) not in seen and tensor.is_floating_point() and tensor.numel():
            seen.add(id(tensor))
            yield name, tensor


def is_drawn(tensor: Tensor) -> bool:
    """Is it a parameter, or a table that is waiting for values? A formula's may be frozen in a parameter."""
    if isinstance(tensor, nn.Parameter):
        return tensor.requires_grad or not begins_as_waves(tensor)
    return _is_constant_table(tensor)


def begins_as_waves(table: Tensor) -> bool:
    """Does it begin with the sines and cosines of position 0, or with an empty row for the class token?"""
    if table.dim() < 2 or not table.numel():
        return False
    rows = table.detach().reshape(-1, table.shape[-1])[:2]
    first = rows[0] if bool(rows[0].any()) else rows[-1]
    zeros, ones = (int((first == one).sum()) for one in (0, 1))
    return zeros > 0 and ones > 0 and zeros + ones == len(first)


def _is_constant_table(tensor: Tensor) -> bool:
    return tensor.dim() > 1 and bool((tensor == tensor.flatten()[0]).all())


def spread_and_centre(tensor: Tensor) -> tuple[float, float]:
    """Of a parameter's random values, which lie around 1 if it is all ones, as a norm's weight is."""
    if tensor.dim() <= 1:
        return _SPREAD_OF_VECTORS, 1.0 if bool((tensor == 1).all()) else 0.0
    if tensor.shape[0] == 1:  # class token, positions: as large as the patch embeddings
        return 1.0, 0.0
    return 1 / math.sqrt(tensor.numel() / tensor.shape[0]), 0.0


def drawn(tensor: Tensor, generator: torch.Generator) -> Tensor:
    """Random values for a parameter of this shape."""
    spread, centre = spread_and_centre(tensor)
    return torch.randn(tensor.shape, generator=generator, dtype=torch.float64) * spread + centre


def seed_random_state(seed: int) -> None:
    """Seeds the random numbers of the CPU; ``torch.manual_seed`` spends a millisecond on accelerators."""
    torch.default_generator.manual_seed(seed)


def draws(run: Callable[[], object]) -> bool:
    """Runs that, and says whether it drew random numbers: of torch, Python or NumPy."""
    before = _random_states()
    run()
    return before != _random_states()


def _random_states() -> tuple[object, ...]:
    numpy = pickle.dumps(np.random.get_state(legacy=False))
    return torch.get_rng_state().numpy().tobytes(), random.getstate(), numpy


def named_tensors(model: nn.Module) -> list[tuple[str, Tensor]]:
    """Every tensor that the model holds: registered, plain attributes, and in modules kept in lists.

    What is on the meta device, such as a template for ``torch.func.functional_call``, holds no numbers and is
    left out.
    """
    return held_by(model)[1]


def held_by(model: nn.Module) -> tuple[list[tuple[str, nn.Module]], list[tuple[str, Tensor]]]:
    """Every module and every tensor with its dotted name, those in plain lists and other attributes too."""
    modules: list[tuple[str, nn.Module]] = []
    tensors: list[tuple[str, Tensor]] = []
    todo, seen = [("", model)], set()
    while todo:
        name, module = todo.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        modules.append((name, module))
        inside = []
        for path, one in _held(f"{name}." if name else "", vars(module)):
            if isinstance(one, nn.Module):
                inside.append((path, one))
            elif not one.is_meta:
                tensors.append((path, one))
        todo += reversed(inside)  # depth first, so that what is shared has the name that torch gives it
    return modules, tensors


def _held(prefix: str, attributes: Mapping[str, Any]) -> Iterator[tuple[str, Tensor | nn.Module]]:
    for registered in ("_parameters", "_buffers", "_modules"):
        yield from _flat(prefix, attributes[registered].items())
    shown = [(name, one) for name, one in attributes.items() if name[:1] != "_" and isinstance(one, _HOLDING)]
    yield from _flat(prefix, shown)


def _flat(prefix: str, items: Iterable[tuple[object, Any]]) -> Iterator[tuple[str, Tensor | nn.Module]]:
    for name, one in items:
        if isinstance(one, (Tensor, nn.Module)):
            yield f"{prefix}{name}", one
        elif isinstance(one, (list, tuple)):
            yield from _flat(f"{prefix}{name}.", enumerate(one))
        elif isinstance(one, dict):
            yield from _flat(f"{prefix}{name}.", one.items())
