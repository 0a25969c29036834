"""Another operator, sign or condition, and operands in the other order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code_scopes import name_of
from .edit import Edit
from .function_text import FunctionText

_OPERATORS: dict[type[ast.operator], tuple[str, tuple[str, ...]]] = {  # as written, and what is taken for it
    ast.Add: ("+", ("*", "-")),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("/", "+", "@")),
    ast.Div: ("/", ("*",)),
    ast.FloorDiv: ("//", ("/", "%", "*")),
    ast.Mod: ("%", ("//",)),
    ast.MatMult: ("@", ("*",)),
    ast.Pow: ("**", ()),
}
_SAME_EITHER_WAY = ({"+"}, {"*"}, {"@"})  # whichever of two such operations is first
_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult)  # whose sides cannot be exchanged


def of_operation(here: FunctionText, node: ast.BinOp) -> Iterator[Edit]:
    left, right = here.text(node.left), here.text(node.right)
    sign, others = _OPERATORS.get(type(node.op), ("", ()))
    # a number that is added to a tensor changes all of it alike: that is not meant
    added = "" if here.is_constructor else name_of(node.right)
    for other in others:
        name = added if other in "+-" else ""
        yield here.edit("operator", node, f"{left} {other} {right}", name=name, role="added")
    if isinstance(node.op, (ast.Mult, ast.Div)):
        yield here.edit("operator", node.right, f"-{right}")
    yield from (here.edit("extra", node, side) for side in (left, right))
    if here.is_constructor and isinstance(node.op, ast.Pow) and left in here.scope.names:
        sizes = (one for one in here.scope.names if one != left)
        yield from (here.edit("variable", node.left, f"({one} // {left})") for one in sizes)
    if isinstance(node.op, _ORDERED):
        yield here.edit("order", node, f"({right}) {sign} ({left})")
    yield from _bracketed_otherwise(here, node)
    if isinstance(node.op, ast.Div):
        yield from _of_quotient(here, node)
    if here.is_constructor and isinstance(node.op, ast.FloorDiv):  # patches of a side, for those of an image
        yield here.edit("number", node, f"({left} // {right}) ** 2")


def _bracketed_otherwise(here: FunctionText, node: ast.BinOp) -> Iterator[Edit]:
    """Of two operations the other one first: nothing but brackets makes it so of ``a - b / c``."""
    left, right, sign = node.left, node.right, _sign(node)
    if isinstance(left, ast.BinOp) and _is_ordered(inner := _sign(left), sign):
        first, second, third = (_operand(here, one) for one in (left.left, left.right, right))
        yield here.edit("brackets", node, f"{first} {inner} ({second} {sign} {third})")
    if isinstance(right, ast.BinOp) and _is_ordered(inner := _sign(right), sign):
        first, second, third = (_operand(here, one) for one in (left, right.left, right.right))
        yield here.edit("brackets", node, f"({first} {sign} {second}) {inner} {third}")


def _is_ordered(one: str, other: str) -> bool:
    """Are both arithmetic, and does it matter which of them comes first?"""
    return "" not in (one, other) and {one, other} not in _SAME_EITHER_WAY


def _operand(here: FunctionText, node: ast.expr) -> str:
    return f"({here.text(node)})" if isinstance(node, ast.BinOp) else here.text(node)


def _sign(node: ast.BinOp) -> str:
    return _OPERATORS.get(type(node.op), ("", ()))[0]


def _of_quotient(here: FunctionText, node: ast.BinOp) -> Iterator[Edit]:
    """Twice as much, the root of what it is divided by, and the bracket of a function around all of it."""
    left, right = node.left, here.text(node.right)
    if not isinstance(node.right, ast.Constant):  # else that is the number that is wrong, or a step too many
        yield here.edit("number", left, f"2 * ({here.text(left)})")
    yield here.edit("missing", node.right, f"({right}) ** 0.5")
    if isinstance(left, ast.Call) and len(left.args) == 1 and not left.keywords:
        yield here.edit("order", node, f"{here.text(left.func)}({here.text(left.args[0])} / {right})")


def of_assignment(here: FunctionText, node: ast.AugAssign) -> Iterator[Edit]:
    target, value = here.text(node.target), here.text(node.value)
    for other in _OPERATORS.get(type(node.op), ("", ()))[1]:
        yield here.edit("operator", node, f"{target} {other}= {value}")


def of_negation(here: FunctionText, node: ast.UnaryOp) -> Iterator[Edit]:
    """Of a number that is written out, the minus is part of it."""
    if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield here.edit("operator", node, here.text(node.operand))
    if isinstance(node.op, ast.Not):
        yield here.edit("condition", node, here.text(node.operand))


def of_choice(here: FunctionText, node: ast.IfExp) -> Iterator[Edit]:
    one, test, other = (here.text(part) for part in (node.body, node.test, node.orelse))
    yield here.edit("condition", node, f"{other} if {test} else {one}")


def of_comparison(here: FunctionText, node: ast.Compare) -> Iterator[Edit]:
    yield here.edit("condition", node, f"(not {here.text(node)})")
