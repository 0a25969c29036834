"""Another variable, layer or attribute."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code_scopes import held
from .edit import Edit
from .function_text import FunctionText


def of_variable(here: FunctionText, node: ast.Name) -> Iterator[Edit]:
    parent, scope = here.parent(node), here.scope
    is_called = isinstance(parent, ast.Call) and parent.func is node
    if is_called or node.id not in (*scope.names, *scope.unbound):
        return
    for name in (one for one in known_at(here, node) if one != node.id):
        yield here.edit("variable", node, name, telling=int(name in scope.idle), name=name)


def known_at(here: FunctionText, node: ast.expr) -> list[str]:
    """Variables that are bound before a line, as far as the order of lines tells."""
    return [name for name in here.scope.names if here.scope.first.get(name, 0) <= node.lineno]


def of_attribute(here: FunctionText, node: ast.Attribute) -> Iterator[Edit]:
    scope = here.scope
    if held(node) in scope.held:
        for name in (one for one in scope.held if one != node.attr):
            own = f"self.{name}"
            yield here.edit("layer", node, own, telling=int(name in scope.unused), name=own)
