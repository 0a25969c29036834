"""Child side: what functions of torch are called, as a mode that watches them meets them."""

from __future__ import annotations

from typing import Any

from torch import Tensor

# what gives a tensor's numbers without its graph
LETTING_GO = ("detach", "detach_", "item", "numpy", "tolist", "data")


def name_of(func: Any) -> str:
    """Of what reads an attribute of a tensor, that of the attribute."""
    if getattr(func, "__self__", None) is Tensor.data:
        return "data"
    read = getattr(func, "__self__", None) if getattr(func, "__name__", "") == "__get__" else None
    return str(getattr(read if read is not None else func, "__name__", func))
