"""In which type a pass computes, whatever type the code asks for.

Right is what agrees as well as arithmetic allows, and in float64 that is told best. So what the code makes in
float32, or turns into it, is float64 in such passes: as if the student had written that instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_TYPES = {"torch.FloatTensor": "torch.DoubleTensor"}  # as Tensor.type takes and gives them


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Constants that the student's code makes are float64 too; a bfloat16 model lives in a float32 world."""
    torch.set_default_dtype(torch.float32 if dtype == torch.bfloat16 else dtype)
    try:
        with _InDouble() if dtype == torch.float64 else nullcontext():
            yield
    finally:
        torch.set_default_dtype(torch.float32)


class _InDouble(TorchFunctionMode):
    """Meanwhile float32 is float64."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is Tensor.float:
            func = Tensor.double
        named = {name: _doubled(one) for name, one in (kwargs or {}).items()}
        return func(*map(_doubled, args), **named)


def _doubled(argument: Any) -> Any:
    if argument is torch.float32:
        return torch.float64
    return _TYPES.get(argument, argument) if isinstance(argument, str) else argument
