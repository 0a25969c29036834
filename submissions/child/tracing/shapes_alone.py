"""Child side: building and running where only shapes are asked for, without most of the arithmetic.

Random initial values, matrix products and what follows them at every number, nearly all of the cost at full
size, are zeros instead. All else is computed, since the code may look at numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...questions.recording import Recorded
from .dispatch_mode import Mode

_aten = torch.ops.aten
_MADE = (_aten.empty.memory_format, _aten.rand.default, _aten.randn.default)
# the last is how truncated normals are drawn
FILLED = (_aten.uniform_.default, _aten.normal_.default, _aten.erfinv_.default)
_MULTIPLIED = (_aten.mm.default, _aten.addmm.default, _aten.bmm.default)
_LIKE_THEIR_FIRST = (_aten._softmax.default, _aten.gelu.default)


class ShapesAlone(Mode):  # type: ignore[no-untyped-call]  # torch's base class has no annotations
    """Inside it, tensors have their shapes and strides, and finite numbers of no meaning."""

    def run(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if func in FILLED:
            return args[0]
        if func in _MADE and kwargs.get("memory_format") is None:
            return _zeros(args[0], kwargs.get("dtype") or torch.get_default_dtype())
        if func in _MULTIPLIED and _fit(*args):
            return _zeros((*args[-2].shape[:-1], args[-1].shape[-1]), args[-1].dtype)
        if func in _LIKE_THEIR_FIRST and args[0].is_contiguous():
            return _zeros(args[0].shape, args[0].dtype)
        return func(*args, **kwargs)


def recorded_shapes(run: Callable[[], Recorded]) -> Recorded:
    """What recording a pass gives, without arithmetic if the code is content with that."""
    with suppress(Exception), ShapesAlone():
        found = run()
        if found.error is None:
            return found
    return run()


def _fit(*factors: Tensor) -> bool:
    """Can they be multiplied, and added to the first of three? What cannot raises as it always does."""
    *added, left, right = factors
    return (
        len({one.dtype for one in factors}) == 1
        and left.shape[:-2] == right.shape[:-2]
        and left.shape[-1] == right.shape[-2]
        and all(one.shape == right.shape[-1:] for one in added)
    )


def _zeros(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """NumPy leaves it to the system to clear memory when it is first read, which is never for most of it."""
    if 0 in shape:
        return torch.zeros(shape, dtype=dtype)
    return (
        torch.from_numpy(np.zeros(int(np.prod(shape)) * dtype.itemsize, np.uint8))
        .view(dtype)
        .view(tuple(shape))
    )
