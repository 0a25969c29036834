"""A line too many, two lines in the other order, and a result that is not kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import TypeGuard

from ..code_scopes import called, held, makes_object
from .edit import Edit
from .function_text import FunctionText
from .name_edits import read_behind

_GIVING = (  # methods of tensors, and functions, that change nothing
    "permute", "transpose", "reshape", "view", "flatten", "unsqueeze", "expand", "softmax", "rearrange",
)  # fmt: skip
_NEAR = 40  # lines between what is overwritten and a sum of it
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


def of_targets(here: FunctionText, node: ast.Assign) -> Iterator[Edit]:
    """Of several that are bound at once, two in the other order."""
    for target in node.targets:
        if isinstance(target, ast.Tuple):
            yield from here.reordered(target.elts)


def of_body(here: FunctionText, body: Sequence[ast.stmt]) -> Iterator[Edit]:
    """Two neighbouring lines exchanged, one more in a loop, and what is overwritten kept for later."""
    short = [one for one in body if here.is_short(one)]
    for pair in pairwise(short):
        if all(isinstance(one, Statement) for one in pair):
            yield from here.exchanged("lines", pair)
        match pair:
            case ast.Assign(value=value), ast.Return(value=ast.expr() as last):
                yield from here.exchanged("lines", (value, last))
    for loop, behind in pairwise(body):
        if isinstance(loop, ast.For) and isinstance(behind, Statement) and here.is_short(behind):
            yield here.in_line_with("outside", loop.body[0], behind, telling=2 * _reads_turn(loop, behind))
    for place, first in enumerate(short):
        yield from _kept_for_sum(here, first, short[place + 1 : place + 1 + _NEAR])


def _reads_turn(loop: ast.For, behind: ast.stmt) -> bool:
    """Does it read what is only bound anew in each turn?"""
    return any(_reads(behind, one.id) for one in ast.walk(loop.target) if isinstance(one, ast.Name))


def _kept_for_sum(here: FunctionText, first: ast.stmt, later: Sequence[ast.stmt]) -> Iterator[Edit]:
    """A tensor that a line overwrites with what it makes of it, for a sum behind that line."""
    match first:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if _reads(value, name):
            for second in takewhile(lambda one: here.is_short(first, one), later):
                sums = (one for one in ast.walk(second) if _is_sum(one))
                terms = [one for each in sums for one in (each.left, each.right) if _is_name(one, name)]
                yield from (here.kept("overwritten", first, one, name) for one in terms)
                if any(_is_name(one, name) for one in getattr(second, "targets", ())):
                    return


def _is_sum(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _reads(value: ast.AST, name: str) -> bool:
    return any(_is_name(one, name) for one in ast.walk(value))


def of_loop(here: FunctionText, node: ast.For) -> Iterator[Edit]:
    """What ends the loop's first turn, behind the loop."""
    last = node.body[-1]
    if isinstance(last, ast.Return) and len(node.body) > 1:
        yield here.in_line_with("loop", node, last)
