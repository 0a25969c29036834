"""What a submission calls and nobody has written yet: what stands in for it says so."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from torch import Tensor, nn

from ...questions.loading import DEFINED_NOWHERE
from ...reading.code_scopes import name_of
from ...reading.missing_imports import bound_in, names_bound_in

_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LIBRARIES = (
    *("torch.nn", "torch.types", "torch.autograd", "torch.utils.data", "einops.layers.torch"),
    *("torchvision.transforms", "timm.layers"),
)
_OF_FUNCTIONS = ("torch", "torch.nn.functional", "einops", "math", "numpy", "IPython.display")
_NEAR = 0.8  # of names, from which one is rather another that is spelt wrongly
_Answer = Callable[..., Any]


def _layer(answer: _Answer) -> type[nn.Module]:
    """A class whose objects are called as the ``answer`` is, however they are made."""

    class ToCome(nn.Module):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return answer(*args, **kwargs)

    return ToCome


def _raises(name: str) -> _Answer:
    def answer(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} {DEFINED_NOWHERE}")

    return answer


def _gives_back(*args: Any, **kwargs: Any) -> Any:
    """The first thing that it is given; None where that is nothing."""
    return next(iter((*args, *kwargs.values())), None)


def from_outside(name: str, passed_on: bool) -> nn.Module:
    """What stands for a layer that a class is given, or for what makes such layers: it makes itself."""
    answer = _gives_back if passed_on else _raises(name)

    def call(*args: Any, **kwargs: Any) -> Any:
        is_pass = any(isinstance(one, Tensor) for one in (*args, *kwargs.values()))
        return answer(*args, **kwargs) if is_pass else _layer(call)()

    return _layer(call)()


def stand_ins(statements: Iterable[ast.stmt], passed_on: bool) -> Mapping[str, _Answer]:
    """By name, what stands in for what no file binds: classes that methods and functions call, and functions.

    What a library calls so, and takes the same arguments, was rather not imported. There is none beside
    ``from x import *``. They raise NotImplementedError, or give back what they are given, if that is to be
    ``passed_on``.
    """
    top = list(statements)
    every = [node for one in top for node in ast.walk(one)]
    bound = names_bound_in(every)
    if "*" in bound:
        return {}
    classes = [*_calls(one for one in every if isinstance(one, (ast.ClassDef, ast.FunctionDef)))]
    functions = {name for name, _ in _calls(top)}
    made = {name for name, _ in classes if name not in bound and _CLASS.fullmatch(name)}
    asked = {one for one in functions - bound if not _CLASS.fullmatch(one)}
    defined = {name for one in every if not isinstance(one, ast.Name) for name in bound_in(one)}
    there = _of_libraries(_LIBRARIES) if made else {}
    objects = {name_of(target) for one in every for target in _bound_to_calls(one)}
    made -= {name for name, call in classes if name in there and _may_take(there[name], call, objects)}
    known = bound.union(_of_libraries(_OF_FUNCTIONS) if asked else ())
    made = {one for one in made if not _misspelt(one, defined)}
    asked = {one for one in asked if not _misspelt(one, known)}
    answers = {one: _gives_back if passed_on else _raises(one) for one in made | asked}
    return {one: _layer(answer) if one in made else answer for one, answer in answers.items()}


def _misspelt(name: str, known: Collection[str]) -> bool:
    """Is it rather meant to be another? With a word more or less it is its own: ``ViTOutput``."""
    near = get_close_matches(name, known, 1, _NEAR)
    own, others = ({*_WORD.findall(one)} for one in (name, *(near or [name])))
    return bool(near) and not (own < others or others < own)


def _of_libraries(libraries: Iterable[str]) -> dict[str, Any]:
    """The classes and functions of those that courses use, by name, as far as they are installed."""
    found: dict[str, Any] = {}
    for library in libraries:
        with suppress(ImportError):
            module = import_module(library)
            found |= {name: getattr(module, name, None) for name in dir(module)}
    return found


def _bound_to_calls(node: ast.AST) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else []


def _may_take(made: Any, call: ast.Call, objects: Collection[str]) -> bool:
    """May it be called so? What cannot be known may; a layer is made by a call, as these ``objects`` are."""
    named = {one.arg: one.value for one in call.keywords if one.arg}
    is_open = len(named) < len(call.keywords) or any(isinstance(one, ast.Starred) for one in call.args)
    try:
        given = signature(made).bind(*call.args, **named)
    except TypeError:
        return is_open or not callable(made)
    except ValueError:  # it has no signature
        return True
    layers = (one for name, one in given.arguments.items() if _is_layer(given.signature.parameters[name]))
    return all(isinstance(one, ast.Call) or name_of(one) in objects for one in layers)


def _is_layer(parameter: Parameter) -> bool:
    return isinstance(parameter.annotation, str) and hasattr(nn, parameter.annotation)


def _calls(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.Call]]:
    """What is called by a name in them."""
    calls = (one for each in nodes for one in ast.walk(each) if isinstance(one, ast.Call))
    yield from ((one.func.id, one) for one in calls if isinstance(one.func, ast.Name))
