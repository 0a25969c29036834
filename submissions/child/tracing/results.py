"""Child side: the tensors in what a model returns, in whatever they are packed."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from types import MemberDescriptorType, ModuleType
from typing import Any, TypeVar

import torch
from torch import Tensor

_MOST_PARTS = 20_000  # values of any kind: a model that keeps all maps of all heads returns some hundred
_MOST_CHARACTERS = 200  # of a path
_SCALARS = (int, float, complex, str, bytes, type, ModuleType, type(None))
_CARRIED = (torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.int32)


T = TypeVar("T")


def computed(output: T) -> T:
    """Return what a forward pass gave. Raises TypeError where calling it has computed nothing yet."""
    if isinstance(output, Coroutine):
        output.close()  # or Python would warn that nobody has waited for it
        raise TypeError(
            "forward is async: calling the model gives a coroutine, and computes nothing; write `def forward`"
            " without `async`"
        )
    if isinstance(output, (AsyncGenerator, Generator)):
        raise TypeError(
            "forward is a generator: calling the model computes nothing; write `return` instead of `yield`"
        )
    return output


@dataclass(frozen=True)
class Results:
    """Every tensor that numbers can be read from, with its path in what was returned.

    A path is such as ``"logits"`` or ``"1.0"``, and empty for a tensor that comes alone. ``left_out`` are the
    others, each with its path and why.
    """

    tensors: list[tuple[str, Tensor]]
    left_out: list[tuple[str, str]]


def results_in(value: object) -> Results:
    """Take apart what a model returned.

    Raises ValueError where that has no end, or is too much to send, and TypeError where nothing was computed.
    """
    results = Results([], [])
    for path, one in _found(computed(value)):
        plain, told = _plain(one)
        if plain is None:
            results.left_out.append((path, told))
        else:
            results.tensors.append((path, plain))
    return results


def described(tensors: list[tuple[str, Tensor]]) -> tuple[tuple[str, str], ...]:
    """Path and dtype of each."""
    return tuple((path, str(one.dtype).removeprefix("torch.")) for path, one in tensors)


def carried(tensor: Tensor) -> Tensor:
    """The same numbers, contiguous and of a type that frames carry."""
    tensor = tensor.detach()
    if tensor.dtype not in _CARRIED:  # of 1 to 8 bits, say, or without a sign
        tensor = tensor.to(torch.float64 if tensor.is_floating_point() else torch.int64)
    return tensor.contiguous()


def is_array(tensor: Tensor) -> bool:
    """Do its numbers lie in memory so that they can be read by strides?"""
    strided = tensor.layout is torch.strided and not tensor.is_nested
    of_one = torch._C._functorch.is_batchedtensor(tensor)  # of all that ``vmap`` computes at once
    return strided and not of_one and not tensor.is_quantized and not tensor.is_meta


def _found(value: object) -> Iterator[tuple[str, Tensor]]:
    todo, count = [("", value)], 0
    while todo:
        path, one = todo.pop()
        count += 1
        if count > _MOST_PARTS:
            raise ValueError(f"the model returns more than {_MOST_PARTS} values, or one that contains itself")
        if isinstance(one, Tensor):
            yield path, one
        else:
            todo += [(_below(path, name), part) for name, part in reversed(_parts(one))]


def _below(path: str, name: object) -> str:
    return f"{path}.{name}".lstrip(".")[:_MOST_CHARACTERS]


def _plain(tensor: Tensor) -> tuple[Tensor | None, str]:
    """As torch's own class has it, or why no numbers can be read from it."""
    try:
        with torch._C.DisableTorchFunctionSubclass():  # a subclass may say anything of itself
            if type(tensor) is not Tensor:
                tensor = tensor.as_subclass(Tensor)
            if tensor.is_complex():
                return None, "holds complex numbers"
            if tensor.layout is not torch.strided and not tensor.is_nested:
                tensor = tensor.to_dense()
            tensor = tensor.dequantize() if tensor.is_quantized else tensor
            return (tensor, "") if is_array(tensor) else (None, "is not an ordinary array in memory")
    except (RuntimeError, TypeError):  # of a class that has no numbers of its own
        return None, "holds nothing that can be read as numbers"


def _parts(value: Any) -> list[tuple[object, object]]:
    """What a container or an object holds, by key, name or position."""
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=False))
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return list(enumerate(value))
    if isinstance(value, _SCALARS):
        return []
    return list({**getattr(value, "__dict__", {}), **dict(_shown(value))}.items())


def _shown(value: object) -> Iterator[tuple[str, object]]:
    """What an object of the student's shows as attributes without keeping them in its dictionary."""
    for base in type(value).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, (property, cached_property, MemberDescriptorType)) and name[:1] != "_":
                with suppress(Exception):  # what cannot be read is not returned
                    yield name, getattr(value, name)
