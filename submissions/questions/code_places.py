"""Child side: whose code a model consists of, told by where that lies, which no name that it bears changes.

What is said of code by itself (``Code``) is said of a library's file on the parent's side, too.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from inspect import unwrap
from types import CodeType, FunctionType, MethodType
from typing import NamedTuple

import torch
from torch import nn

from ... import submissions
from ...reference import sizes
from ..reading.code import STUDENT_PREFIX

_OF_NOBODY = (f"{os.path.dirname(torch.__file__)}{os.sep}", "<frozen ")  # torch's layers are for everyone
_OWN = {  # which are no folder of the search path where they are installed for development
    os.path.dirname(os.path.realpath(sizes.__file__)): sizes.__package__,
    os.path.dirname(os.path.realpath(submissions.__file__)): submissions.__package__,
}
_HARNESS = f"{submissions.__package__}."
_SAMPLES = f"{_HARNESS}child.sample_models"
_SEARCHED = tuple(filter(None, sys.path))  # before a submission adds folders with files that it has written
_CODES = 2_000
_SOURCE_RANGE = re.compile(r"# (\S+\.py):\d+")  # how compiled code tells the lines that it was made of


class Code(NamedTuple):
    """One function's code: the module that it is installed in, or an empty text, and what it is by itself."""

    place: str
    name: str
    handed_in: bool  # does it say that it lies in a file of the submission?
    digest: str  # of the names and constants in it, in the order of their use
    lines: int


def place(file: str) -> str:
    """The name by which the module in ``file`` is imported; nothing for what is not installed."""
    return "" if file.startswith((STUDENT_PREFIX, "<")) else _module(file)


@cache
def _module(file: str) -> str:
    real = os.path.realpath(file)
    ways = [(real, folder, f"{name}.") for folder, name in _OWN.items()]
    ways += [
        (form, way(one), "") for one in _SEARCHED for form, way in ((file, str), (real, os.path.realpath))
    ]
    inside = [one for one in ways if one[0].startswith(f"{one[1]}{os.sep}")]
    if not inside:
        return ""
    path, folder, prefix = max(inside, key=lambda one: len(one[1]))
    return prefix + os.path.relpath(path, folder).removesuffix(".py").removesuffix("/__init__").replace(
        os.sep, "."
    )


def classes(kind: type) -> list[str]:
    """The names of a class and those that it is derived from, by the places of their code."""
    found = []
    for base in kind.__mro__:
        places = {place(code.co_filename) for code in _codes(vars(base).values())}
        places = {name for name in places if name and not _is_harness(name)}
        found += [
            f"{name}.{base.__qualname__}" for name in sorted(places) or [getattr(base, "__module__", "")]
        ]
    return found


def consists_of(model: nn.Module, ran: Iterable[CodeType]) -> list[Code]:
    """The code of a model's classes and what ``ran``; torch's and this package's own is left out."""
    modules = [*model.modules()]
    kinds = {one for module in modules for one in type(module).__mro__}
    held = [value for one in (*kinds, *modules) for value in vars(one).values()]
    found = {id(one): one for one in (*_codes(held), *ran) if not one.co_filename.startswith(_OF_NOBODY)}
    told = [describe(one) for one in found.values()]
    told += [one for module in modules for one in _compiled(module)]
    return [one for one in told if not _is_harness(one.place)][:_CODES]


def _is_harness(name: str) -> bool:
    return name.startswith(_HARNESS) and name != _SAMPLES


def _compiled(module: nn.Module) -> Iterator[Code]:
    """What TorchScript was made of: no code of Python's is left of it."""
    if isinstance(module, torch.jit.ScriptModule):
        for file in sorted({*_SOURCE_RANGE.findall(str(module.inlined_graph))}):
            yield Code(place(file), module.original_name, file.startswith(STUDENT_PREFIX), "", 0)


def _codes(values: Iterable[object]) -> Iterator[CodeType]:
    for value in values:
        parts = (value.fget, value.fset) if isinstance(value, property) else (value,)
        for part in parts:
            inner = part.__func__ if isinstance(part, (MethodType, staticmethod, classmethod)) else part
            if isinstance(inner, FunctionType):
                yield inner.__code__
                yield from (one.__code__ for one in (unwrap(inner),) if isinstance(one, FunctionType))


def describe(code: CodeType) -> Code:
    """What is said of code."""
    file = code.co_filename
    name = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has no longer one
    lines = {line for _, _, line in code.co_lines() if line}
    return Code(place(file), name, file.startswith(STUDENT_PREFIX), _digest(code), len(lines))


@cache
def _digest(code: CodeType) -> str:
    constants = [_digest(one) if isinstance(one, CodeType) else _constant(one) for one in code.co_consts]
    # not its instructions: what a method call becomes depends on the imports that are compiled with it
    parts = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, constants)
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _constant(value: object) -> str:
    # sets have no order
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def codes_of(source: bytes) -> Iterator[Code]:
    """The code of every function in the text of a module, without running it."""
    waiting = [compile(source, "", "exec", dont_inherit=True)]
    while waiting:
        inner = [one for one in waiting.pop().co_consts if isinstance(one, CodeType)]
        waiting += inner
        yield from (describe(one) for one in inner)
