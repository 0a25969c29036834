"""What the student's own code gives to its loss."""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from ..errors import Frame
from .code import parsed
from .code_scopes import called, name_of
from .python_text import DEFINITIONS

_FUNCTION, _CLASS = "cross_entropy", "CrossEntropyLoss"


def given_to_cross_entropy(files: Mapping[str, bytes]) -> Iterator[Frame]:
    """The lines on which cross entropy is given what calling an object gives, which is a model most likely.

    As it is: not what a function makes of it, such as its logarithm.
    """
    return (Frame(file, line) for file, tree in parsed(files) for line in _lines(list(ast.walk(tree))))


def _lines(nodes: list[ast.AST]) -> Iterator[int]:
    losses = _bound(nodes, lambda value: called(value) == _CLASS)
    functions = {*_functions(nodes), *dir(builtins)}
    scores = _bound(nodes, lambda value: _is_of_object(value, functions))
    for call in (one for one in nodes if isinstance(one, ast.Call) and one.args):
        is_loss = _FUNCTION in called(call) or called(call.func) == _CLASS or name_of(call.func) in losses
        first = call.args[0]
        if is_loss and (_is_of_object(first, functions) or name_of(first) in scores):
            yield call.lineno


def _functions(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """What is defined or imported under a name of its own."""
    for node in nodes:
        if isinstance(node, DEFINITIONS):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (one.asname or one.name for one in node.names)


def _is_of_object(value: ast.AST, functions: set[str]) -> bool:
    """Is it ``net(x)`` or ``self.net(x)``, where ``net`` is no function?"""
    return isinstance(value, ast.Call) and name_of(value.func) not in {"", *functions}


def _bound(nodes: Iterable[ast.AST], is_meant: Callable[[ast.expr], bool]) -> set[str]:
    """The names, of variables or of what ``self`` holds, that are only ever given such values."""
    given = defaultdict[str, list[bool]](list)
    for node in nodes:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            given[name_of(target)].append(isinstance(node, ast.Assign) and is_meant(node.value))
    return {name for name, found in given.items() if name and all(found)}
