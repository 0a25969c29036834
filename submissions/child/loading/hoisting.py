"""Classes that stand inside a function, such as ``main``: taken as if they stood at the top level."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_ONLY_INSIDE = (ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await)


def top_level(tree: ast.Module) -> list[ast.stmt]:
    """The file's statements; where no class is among them, with those of functions that define classes."""
    if any(isinstance(node, ast.ClassDef) for one in tree.body for node in _outside_functions(one)):
        return tree.body
    return [inner for one in tree.body for inner in (hoisted(one) if _holds_classes(one) else (one,))]


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, ast.FunctionDef):
        for inner in ast.iter_child_nodes(node):
            yield from _outside_functions(inner)


def _holds_classes(node: ast.stmt) -> bool:
    inside = list(ast.walk(node)) if isinstance(node, ast.FunctionDef) else []
    return any(isinstance(one, ast.ClassDef) for one in inside) and not any(
        isinstance(one, _ONLY_INSIDE) for one in inside
    )


def hoisted(function: ast.stmt) -> Iterator[ast.stmt]:
    """What a call of the function with its defaults does, but for what it gives back."""
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    places = [*given.posonlyargs, *given.args][-len(given.defaults) :] if given.defaults else []
    pairs = [*zip(places, given.defaults), *zip(given.kwonlyargs, given.kw_defaults)]
    for argument, default in pairs:
        if default is not None:
            target = ast.copy_location(ast.Name(argument.arg, ast.Store()), argument)
            yield ast.copy_location(ast.Assign([target], default), argument)
    yield from (one for one in function.body if not isinstance(one, ast.Return))
