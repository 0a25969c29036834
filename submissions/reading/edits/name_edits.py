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


def read_behind(here: FunctionText, node: ast.stmt) -> list[str]:
    """Variables that are bound before a line, and read after it."""
    loads = (one for one in ast.walk(here.scope.function) if isinstance(one, ast.Name))
    read = {one.id for one in loads if isinstance(one.ctx, ast.Load) and one.lineno > node.lineno}
    return [name for name in known_at(here, node) if name in read]


def known_at(here: FunctionText, node: ast.expr | ast.stmt) -> list[str]:
    """Variables that are bound before a line, as far as the order of lines tells."""
    return [name for name in here.scope.names if here.scope.first.get(name, 0) <= node.lineno]


def of_attribute(here: FunctionText, node: ast.Attribute) -> Iterator[Edit]:
    scope = here.scope
    if held(node) in scope.held:
        for name in (one for one in scope.held if one != node.attr):
            own = f"self.{name}"
            telling = 1 + 2 * _is_in_turn(here, node, name) if name in scope.unused else 0
            yield here.edit("layer", node, own, telling=telling, name=own)


def _is_in_turn(here: FunctionText, node: ast.Attribute, name: str) -> bool:
    """Of several uses of a layer, is this where another's turn is, since they are used as they are made?"""
    order, uses = here.scope.held, here.scope.uses(node.attr)
    is_later = order.index(name) > order.index(node.attr)
    return len(uses) > 1 and (node.lineno, node.col_offset) == uses[-1 if is_later else 0]
