"""A line too many, two lines in the other order, and a result that is not kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..code_scopes import called, held, makes_object
from .edit import Edit
from .function_text import FunctionText
from .name_edits import read_behind

_GIVING = (  # methods of tensors, and functions, that change nothing
    "permute", "transpose", "reshape", "view", "flatten", "unsqueeze", "expand", "softmax", "rearrange",
)  # fmt: skip
Statement = (ast.Assign, ast.AugAssign, ast.Expr)


def of_statement(here: FunctionText, node: ast.Assign | ast.AugAssign | ast.Expr) -> Iterator[Edit]:
    if isinstance(node.value, ast.Constant):
        return
    if not here.is_constructor:
        yield here.edit("extra", node, "pass")
    if isinstance(node, ast.Expr):
        value, telling = here.text(node.value), int(_gives_something(here, node.value))
        yield from (
            here.edit("kept", node, f"{name} = {value}", telling=telling) for name in _forgotten(here, node)
        )


def _gives_something(here: FunctionText, value: ast.expr) -> bool:
    """Is it called for nothing but what it gives, as layers and most functions of torch are?"""
    base = getattr(getattr(value, "func", None), "value", None)
    is_layer = isinstance(value, ast.Call) and held(value.func) in here.scope.held
    is_function = isinstance(base, ast.Name) and base.id in ("torch", "F") and not called(value).endswith("_")
    return not here.is_constructor and (is_layer or is_function or called(value) in _GIVING)


def _forgotten(here: FunctionText, node: ast.Expr) -> list[str]:
    """What the value may have been meant for: in a constructor, what a layer or a parameter is."""
    scope = here.scope
    if here.is_constructor:
        return [f"self.{name}" for name in scope.lacking if makes_object(node.value)]
    used = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
    names = [name for name in scope.names if name in used]
    later = [name for name, line in scope.first.items() if line > node.lineno]
    return list(dict.fromkeys([*scope.unbound, *later, *names, *read_behind(here, node)]))


def of_body(here: FunctionText, body: Sequence[ast.stmt]) -> Iterator[Edit]:
    """Two neighbouring lines, each in the place of the other."""
    for pair in pairwise(body):
        if all(isinstance(one, Statement) and here.is_short(one) for one in pair):
            yield from here.exchanged("lines", pair)
