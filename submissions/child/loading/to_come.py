"""What a submission calls and nobody has written yet: what stands in for it says so."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any

from torch import nn

from ...reading.missing_imports import bound_in

_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
_LIBRARIES = (
    *("torch.nn", "torch.types", "torch.autograd", "torch.utils.data", "einops.layers.torch"),
    *("torchvision.transforms", "timm.layers"),
)
_OF_FUNCTIONS = ("torch", "torch.nn.functional", "einops", "math", "numpy", "IPython.display")
_NEAR = 0.8  # of names, from which one is rather another that is spelt wrongly


class _ToCome(nn.Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def _to_come(name: str, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(f"{name} is defined nowhere")


def stand_ins(statements: Iterable[ast.stmt]) -> Mapping[str, Callable[..., Any]]:
    """By name, what stands in for what no file binds: classes that methods call, and functions.

    What a library calls so was rather not imported. There is none beside ``from x import *``.
    """
    top = list(statements)
    every = [node for one in top for node in ast.walk(one)]
    bound = {*vars(builtins)}.union(*map(bound_in, every))
    if "*" in bound:
        return {}
    classes = _called(one for one in every if isinstance(one, ast.ClassDef))
    functions = _called(chain.from_iterable(map(_not_of_a_pass, top)))
    made = {one for one in classes - bound if _CLASS.fullmatch(one)}
    asked = {one for one in functions - bound if not _CLASS.fullmatch(one)}
    defined = {name for one in every if not isinstance(one, ast.Name) for name in bound_in(one)}
    made -= _of_libraries(_LIBRARIES) if made else set()
    known = bound | (_of_libraries(_OF_FUNCTIONS) if asked else set())
    return {
        **{one: _ToCome for one in made if not get_close_matches(one, defined, 1, _NEAR)},
        **{one: partial(_to_come, one) for one in asked if not get_close_matches(one, known, 1, _NEAR)},
    }


def _of_libraries(libraries: Iterable[str]) -> set[str]:
    """What those that courses use call their classes and functions, as far as they are installed."""
    found: set[str] = set()
    for library in libraries:
        with suppress(ImportError):
            found.update(dir(import_module(library)))
    return found


def _not_of_a_pass(statement: ast.stmt) -> Iterable[ast.stmt]:
    """Of a class its constructor alone: what its other methods call and lack is a slip of theirs."""
    if not isinstance(statement, ast.ClassDef):
        return [statement]
    return [one for one in statement.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]


def _called(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are called in them."""
    calls = (one for each in nodes for one in ast.walk(each) if isinstance(one, ast.Call))
    return {one.func.id for one in calls if isinstance(one.func, ast.Name)}
