"""Layers that a submission makes and that nobody has written yet: what stands in for them says so."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from torch import nn

from ...reading.missing_imports import bound_in

_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
_LIBRARIES = (
    "torch",
    "torch.nn",
    "torch.utils.data",
    "einops.layers.torch",
    "torchvision.transforms",
    "timm.layers",
)
_NEAR = 0.8  # of names, from which one is rather another that is spelt wrongly


class _ToCome(nn.Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def stand_ins(nodes: Iterable[ast.AST]) -> Mapping[str, type[nn.Module]]:
    """By name, what stands in for classes that methods call and that no file binds.

    What a library calls so was rather not imported. There is none beside ``from x import *``.
    """
    every = list(nodes)
    bound = {name for node in every for name in bound_in(node)}
    classes = (one for one in every if isinstance(one, ast.ClassDef))
    made = {name for one in classes for node in ast.walk(one) if (name := _made(node))}
    names = set() if "*" in bound else made - bound - {*vars(builtins)}
    known = _of_libraries() if names else set()
    return {one: _ToCome for one in names - known if not get_close_matches(one, bound, 1, _NEAR)}


def _of_libraries() -> set[str]:
    """What those that courses use call their classes, as far as they are installed."""
    found: set[str] = set()
    for library in _LIBRARIES:
        with suppress(ImportError):
            found.update(dir(import_module(library)))
    return found


def _made(node: ast.AST) -> str:
    """The name of a class that is called by it."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return name if _CLASS.fullmatch(name) else ""
