"""What a submission calls and nobody has written yet: what stands in for it says so."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from inspect import signature
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

    What a library calls so, and takes the same arguments, was rather not imported. There is none beside
    ``from x import *``.
    """
    top = list(statements)
    every = [node for one in top for node in ast.walk(one)]
    bound = {*vars(builtins)}.union(*map(bound_in, every))
    if "*" in bound:
        return {}
    classes = [*_calls(one for one in every if isinstance(one, ast.ClassDef))]
    functions = {name for name, _ in _calls(top)}
    made = {name for name, _ in classes if name not in bound and _CLASS.fullmatch(name)}
    asked = {one for one in functions - bound if not _CLASS.fullmatch(one)}
    defined = {name for one in every if not isinstance(one, ast.Name) for name in bound_in(one)}
    there = _of_libraries(_LIBRARIES) if made else {}
    made -= {name for name, call in classes if name in there and _may_take(there[name], call)}
    known = bound.union(_of_libraries(_OF_FUNCTIONS) if asked else ())
    return {
        **{one: _ToCome for one in made if not get_close_matches(one, defined, 1, _NEAR)},
        **{one: partial(_to_come, one) for one in asked if not get_close_matches(one, known, 1, _NEAR)},
    }


def _of_libraries(libraries: Iterable[str]) -> dict[str, Any]:
    """The classes and functions of those that courses use, by name, as far as they are installed."""
    found: dict[str, Any] = {}
    for library in libraries:
        with suppress(ImportError):
            module = import_module(library)
            found |= {name: getattr(module, name, None) for name in dir(module)}
    return found


def _may_take(made: Any, call: ast.Call) -> bool:
    """May it be called so? What cannot be known may."""
    named = {one.arg: one.value for one in call.keywords if one.arg}
    is_open = len(named) < len(call.keywords) or any(isinstance(one, ast.Starred) for one in call.args)
    try:
        signature(made).bind(*call.args, **named)
    except TypeError:
        return is_open or not callable(made)
    except ValueError:  # it has no signature
        return True
    return True


def _calls(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.Call]]:
    """What is called by a name in them."""
    calls = (one for each in nodes for one in ast.walk(each) if isinstance(one, ast.Call))
    yield from ((one.func.id, one) for one in calls if isinstance(one.func, ast.Name))
