"""What may have been left out: a layer, a term, or a step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code_scopes import held
from .edit import Edit
from .function_text import FunctionText
from .name_edits import known_at, read_behind

_STEPS = ("[:, 0]", ".transpose(1, 2)", ".transpose(0, 1)", ".softmax(dim=-1)")


def with_more(here: FunctionText, node: ast.expr) -> Iterator[Edit]:
    """With what may have been left out of a value in a pass."""
    value = here.text(node)
    grouped = f"({value})" if isinstance(node, ast.BinOp) else value
    if _is_value(here, node) or (value in here.scope.names and _has_method_called(here, node)):
        yield from (here.edit("missing", node, f"{grouped}{step}") for step in _STEPS)
    if _may_return_two(here, node):
        yield here.edit("missing", node, f"{value}[0]", telling=1)
    if not _is_value(here, node):
        return
    yield from _with_unused(here, node, value)
    yield from (
        here.edit("missing", node, f"({grouped} {sign} {other})", name=other, role="added")
        for other in known_at(here, node)
        for sign in "+*"
        if other != value
    )


def _is_value(here: FunctionText, node: ast.expr) -> bool:
    """Is it, in a pass, what is bound, returned or called with, or what a method is called of?"""
    parent = here.parent(node)
    if here.is_constructor or isinstance(getattr(node, "ctx", None), ast.Store):
        return False
    if isinstance(parent, ast.Attribute):
        return _has_method_called(here, node) and not isinstance(node, ast.Name)
    if isinstance(parent, ast.Call):
        return node in parent.args
    return isinstance(parent, (ast.Assign, ast.AugAssign, ast.Return, ast.Tuple))


def _may_return_two(here: FunctionText, node: ast.expr) -> bool:
    """Is it a layer that is called with query, key and value, as attention is, and bound to one name?"""
    is_bound = isinstance(here.parent(node), ast.Assign)
    return is_bound and isinstance(node, ast.Call) and bool(held(node.func)) and len(node.args) > 2


def _has_method_called(here: FunctionText, node: ast.expr) -> bool:
    parent = here.parent(node)
    return (
        not here.is_constructor
        and isinstance(parent, ast.Attribute)
        and isinstance(here.parent(parent), ast.Call)
    )


def _with_unused(here: FunctionText, node: ast.expr, value: str) -> Iterator[Edit]:
    """With what nothing uses: called, as a layer or the variable of a loop is, added, or as weights of it."""
    telling = 1 + (isinstance(node, ast.Name) and isinstance(here.parent(node), ast.Assign))  # a mere copy
    for one in (each for each in _unused(here) if each != value):
        yield here.edit("missing", node, f"{one}({value})", telling=telling, name=one, role="called")
        yield here.edit("missing", node, f"({value} + {one})", telling=telling, name=one, role="added")
    for one in (each for each in here.scope.idle if each != value):
        yield here.edit("missing", node, f"({one} @ {value})", telling=telling, name=one)


def of_nothing(here: FunctionText, node: ast.Pass) -> Iterator[Edit]:
    """What nothing uses, taken to a variable where nothing is done."""
    first = here.scope.first
    known = [name for name, line in first.items() if line < node.lineno]
    arguments = [name for name in here.scope.names if name not in first]
    targets = read_behind(here, node)
    for x in (*known, *arguments):
        for one in (each for each in _unused(here) if each != x):
            yield here.edit("missing", node, f"{x} = {one}({x})", telling=2, name=one, role="called")
            yield here.edit("missing", node, f"{x} = {x} + {one}", telling=2, name=one, role="added")
            for other in (each for each in targets if each != x):
                yield here.edit("missing", node, f"{other} = {one}({x})", telling=1, name=one, role="called")


def _unused(here: FunctionText) -> list[str]:
    """Layers, parameters and variables that nothing uses."""
    return [*(f"self.{name}" for name in here.scope.unused), *here.scope.idle]
