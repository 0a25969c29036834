"""Where the student's own code tells a class with its model."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Set
from itertools import chain

from ..errors import Frame
from .code import texts
from .python_text import names_bound, names_read, tree, written

_CHOICES = ("argmax", "max", "topk", "softmax", "sort")  # by which a class is told from scores


def predictions_of(files: Mapping[str, bytes], name: str) -> Iterator[Frame]:
    """Places outside of classes where an instance of the class ``name`` is called, and told a class by.

    Who prints a shape alone looks at no number.
    """
    for file, text in texts(files):
        scopes = list(_scopes(text))
        made = {
            target.id
            for node in chain.from_iterable(scopes)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            for target in node.targets
            if isinstance(target, ast.Name) and written(node.value).partition("(")[0].endswith(name)
        }
        for scope in scopes:
            calls = [node for node in scope if isinstance(node, ast.Call)]
            of_model = {one for one in calls if isinstance(one.func, ast.Name) and one.func.id in made}
            names = _computed_from(scope, of_model)
            choices = (one for one in calls if written(one.func).endswith(_CHOICES))
            if any(_reads(one, of_model, names) for one in choices):
                yield from (Frame(file, line) for line in sorted(one.lineno for one in of_model))


def _computed_from(scope: Collection[ast.AST], calls: Set[ast.Call]) -> set[str]:
    """The names of what is computed from what these calls give, line by line."""
    names: set[str] = set()
    bound = (one for one in scope if isinstance(one, (ast.Assign, ast.AugAssign, ast.AnnAssign)))
    for one in sorted(bound, key=lambda one: one.lineno) if calls else ():
        names |= names_bound(one) if _reads(one, calls, names) else set()
    return names


def _reads(node: ast.AST, calls: Set[ast.Call], names: set[str]) -> bool:
    """Is one of these calls in it, or one of these names read?"""
    return not names.isdisjoint(names_read(node)) or any(one in calls for one in ast.walk(node))


def _scopes(text: str) -> Iterator[list[ast.AST]]:
    """The nodes of the file's own level, and of each function; none of classes."""
    waiting: deque[ast.AST] = deque([tree(text) or ast.Module([], [])])
    while waiting:
        scope: list[ast.AST] = []
        inside = deque(ast.iter_child_nodes(waiting.popleft()))
        while inside:  # no function that calls itself: code may be nested deeper than that goes
            node = inside.popleft()
            if isinstance(node, ast.FunctionDef):
                waiting.append(node)
            elif not isinstance(node, ast.ClassDef):
                scope.append(node)
                inside += ast.iter_child_nodes(node)
        yield scope
