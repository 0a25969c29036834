"""Passes in which functions drop nothing, whatever they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode


class NothingDropped(TorchFunctionMode):
    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        name = str(getattr(func, "__name__", func))
        if "dropout" in name and (args or "input" in given):
            return args[0] if args else given["input"]
        if name == "scaled_dot_product_attention":
            args, given = (*args[:4], *((0.0,) if len(args) > 4 else ()), *args[5:]), given
            given |= {"dropout_p": 0.0} if len(args) <= 4 else {}
        return func(*args, **given)
