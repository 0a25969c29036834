"""The model as the student's own code makes it, by the call that is written there and what that needs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Any

from ...reading.code import STUDENT_PREFIX
from ...reading.code_scopes import called
from ...reading.python_text import DEFINITIONS, names_read
from ..loading.costs import cost
from ..loading.definitions import Definition
from ..loading.execution import Loaded, no_arguments
from ..loading.hoisting import hoisted
from ..loading.statements import Need, bound, unguarded
from .calls.blueprint import Blueprint, Call, DefinitionName

_MADE = "_made_by_the_students_own_call"
_PLACES = 8  # where a model is made; a file that makes more makes the same ones
_BEFORE = (ast.With, ast.Try, ast.If, ast.For, ast.While)


@dataclass(frozen=True)
class OwnCall(DefinitionName):
    """A call of the definition with what the student gives it, after the statements that make that."""

    code: CodeType

    def resolve(self, loaded: Loaded) -> Callable[..., Any]:
        return partial(self._made, vars(loaded.modules[self.module]))

    def _made(self, namespace: dict[str, object]) -> object:
        own = dict(namespace)
        with no_arguments():
            exec(self.code, own)
        return own[_MADE]


def own_calls(loaded: Loaded, definition: Definition) -> Iterator[Blueprint]:
    """Ways to build it in which nothing is left to say: each is a call that the student's code makes.

    What is computed from data, from a download, or by a loop is not to be had, and such a call is left out.
    """
    places = (
        (module, call, before)
        for module, body in loaded.program.statements.items()
        if module in loaded.modules
        for call, before in _calls([inner for one in body for inner in unguarded(one.node)], definition.name)
    )
    for _, (module, call, before) in zip(range(_PLACES), places):
        namespace = vars(loaded.modules[module])
        needed = _needed(call, before, namespace.keys())
        if all(cost(one, Need.MODEL, namespace) is None for one in needed):
            yield Blueprint(Call(_own_call(module, definition.name, call, needed), (), {}), (), ())


def _own_call(module: str, name: str, call: ast.Call, needed: Sequence[ast.stmt]) -> OwnCall:
    made = ast.fix_missing_locations(
        ast.copy_location(ast.Assign([ast.Name(_MADE, ast.Store())], call), call)
    )
    return OwnCall(module, name, compile(ast.Module([*needed, made], []), STUDENT_PREFIX + module, "exec"))


def _calls(body: Sequence[ast.stmt], name: str) -> Iterator[tuple[ast.Call, list[ast.stmt]]]:
    """Yield each call of ``name``, and the statements that come before it where it stands."""
    for number, one in enumerate(body):
        before = [*body[:number]]
        if isinstance(one, ast.FunctionDef):
            inside = list(hoisted(one))
            yield from ((call, [*body, *own]) for call, own in _calls(inside, name))
        elif isinstance(one, _BEFORE):
            inner = [inside for inside in ast.iter_child_nodes(one) if isinstance(inside, ast.stmt)]
            yield from ((call, [*before, *own]) for call, own in _calls(inner, name))
        elif not isinstance(one, DEFINITIONS):
            calls = (node for node in ast.walk(one) if isinstance(node, ast.Call))
            yield from ((call, before) for call in calls if called(call) == name)


def _needed(call: ast.Call, before: Sequence[ast.stmt], known: Iterable[str]) -> list[ast.stmt]:
    """The statements that bind what the call reads, and what they read; what is defined is there already."""
    found: list[ast.stmt] = []
    names = names_read(call)
    for one in reversed(before):
        is_there = isinstance(one, (*DEFINITIONS, ast.Import, ast.ImportFrom)) and bound(one) <= {*known}
        if bound(one) & names and not is_there:
            found.insert(0, one)
            names |= names_read(one)
    return found
