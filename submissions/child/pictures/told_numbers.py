"""The numbers in what a function returned and printed: classes, whole ones or by their names, and shares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

import numpy as np
import torch
from torch import Tensor

_MOST = 4096  # of each kind
_NUMBER = re.compile(r"\d+\.\d+")
_DEEP = 4  # lists of tuples of ...


def told(result: object, printed: str, labels: Mapping[str, int]) -> tuple[Tensor, Tensor]:
    """Whole numbers, int64, and all others, float64. ``labels`` are names of classes by their numbers."""
    found = [*_numbers(result, _DEEP)]
    texts = [one for one in found if isinstance(one, str)] + [printed]
    shares = [float(one) for one in found if isinstance(one, float)]
    classes = [int(one) for one in found if isinstance(one, int)]
    for text in texts:
        classes += _classes(text, labels)
        shares += [float(one) for one in _NUMBER.findall(text)]
    return _list(classes, torch.int64), _list(shares, torch.float64)


def labels_in(values: Iterable[object]) -> dict[str, int]:
    """The names of classes, where one of these is a list of them or a dictionary."""
    found: dict[str, int] = {}
    for value in values:
        pairs: Iterable[tuple[object, object]] = ()
        if isinstance(value, (list, tuple)):
            pairs = zip(value, range(_MOST))
        elif isinstance(value, Mapping):
            pairs = [*value.items(), *((one, key) for key, one in value.items())]
        found |= {name: one for name, one in pairs if isinstance(name, str) and type(one) is int}
    return found


def _classes(text: str, labels: Mapping[str, int]) -> list[int]:
    """The one class whose name stands in the text; several say nothing."""
    named = {labels[one] for one in labels if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)}
    return [*named] if len(named) == 1 else []


def _numbers(value: object, deep: int) -> Iterator[int | float | str]:
    if isinstance(value, (np.ndarray, np.generic)):
        with suppress(TypeError):  # of a type that torch does not have
            value = torch.as_tensor(value)
    if isinstance(value, Tensor):
        yield from value.detach().flatten()[:_MOST].tolist()
    elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
        yield value
    elif isinstance(value, (list, tuple, Mapping)) and deep:
        parts = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        for one in parts[:_MOST]:
            yield from _numbers(one, deep - 1)


def _list(numbers: list[int] | list[float], dtype: torch.dtype) -> Tensor:
    with suppress(OverflowError, RuntimeError):  # a whole number of any length
        return torch.tensor(numbers[:_MOST], dtype=dtype)
    return torch.empty(0, dtype=dtype)
