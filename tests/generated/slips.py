"""How people slip: what may stand in the tree of a program in place of one of its nodes.

A slip is one function that gives the replacements of a node, registered by its name. Of a statement it may
give several statements, or none.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, TypeVar


@dataclass(frozen=True)
class Around:
    """What stands around a node."""

    names: frozenset[str]  # variables of its function
    attributes: tuple[str, ...]  # what its class stores, in order
    following: ast.stmt | None = None  # the next statement of the same body
    parent: ast.AST | None = None


Replacement: TypeAlias = "ast.expr | list[ast.stmt]"
Slip: TypeAlias = Callable[[ast.AST, Around], Iterator[Replacement]]
SLIPS: dict[str, Slip] = {}
_Slip = TypeVar("_Slip", bound=Slip)
_Item = TypeVar("_Item")

_DIMS = frozenset(
    (
        "softmax",
        "cat",
        "concat",
        "stack",
        "flatten",
        "mean",
        "sum",
        "unsqueeze",
        "squeeze",
        "chunk",
        "unbind",
        "Softmax",
    )
)
_MODULES = frozenset(("self", "torch", "nn", "F", "math", "np"))
_AXES = frozenset(("transpose", "permute"))


def slip(made: _Slip) -> _Slip:
    """Register the function by its name."""
    SLIPS[made.__name__.replace("_", " ")] = made
    return made


def _with(node: ast.AST, **fields: object) -> ast.expr:
    """A copy of a node with some fields changed; what it keeps is the same, and so are its marks."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    assert isinstance(changed, ast.expr)
    return changed


def _called(node: ast.AST) -> str:
    """The name of what a call calls."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _number(node: ast.AST) -> int | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if type(value) is int else None


def _constant(value: float) -> ast.expr:
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)


def _put(items: list[_Item], index: int, item: _Item) -> list[_Item]:
    """The items with another one in one place."""
    return [*items[:index], item, *items[index + 1 :]]


def _exchanged(items: list[_Item], index: int) -> list[_Item]:
    """The items with one and the next in the other order."""
    return [*items[:index], items[index + 1], items[index], *items[index + 2 :]]


@slip
def an_operand(node: ast.AST, around: Around) -> Iterator[Replacement]:
    """Exchanged or left out."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, (ast.MatMult, ast.Div, ast.Pow, ast.Sub)):
            yield _with(node, left=node.right, right=node.left)
        yield node.left
        yield node.right


@slip
def an_operator(node: ast.AST, around: Around) -> Iterator[Replacement]:
    others: dict[type, tuple[ast.operator, ...]] = {
        ast.Add: (ast.Sub(), ast.Mult()),
        ast.Sub: (ast.Add(),),
        ast.Mult: (ast.Div(), ast.Add()),
        ast.Div: (ast.Mult(),),
        ast.MatMult: (ast.Mult(),),
    }
    if isinstance(node, ast.BinOp):
        for other in others.get(type(node.op), ()):
            yield _with(node, op=other)


@slip
def a_dimension(node: ast.AST, around: Around) -> Iterator[Replacement]:
    """Of softmax, cat, mean…: another axis."""
    if not isinstance(node, ast.Call) or _called(node) not in _DIMS:
        return
    for other in (-1, -2, 0, 1, 2):
        for index, word in enumerate(node.keywords):
            if word.arg in ("dim", "axis", "start_dim") and _number(word.value) not in (None, other):
                yield _with(
                    node, keywords=_put(node.keywords, index, ast.keyword(word.arg, _constant(other)))
                )
        for index, argument in enumerate(node.args):
            if _number(argument) not in (None, other) and _called(node) != "chunk":
                yield _with(node, args=_put(node.args, index, _constant(other)))


@slip
def a_sign(node: ast.AST, around: Around) -> Iterator[Replacement]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand


@slip
def an_index(node: ast.AST, around: Around) -> Iterator[Replacement]:
    """Another one, or of another axis."""
    if not isinstance(node, ast.Subscript):
        return
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for index, part in enumerate(parts):
        for other in (0, 1, 2, -1):
            if _number(part) not in (None, other):
                changed = _put(parts, index, _constant(other))
                yield _with(node, slice=ast.Tuple(changed, ast.Load()) if len(parts) > 1 else changed[0])
    if len(parts) > 1:
        yield _with(node, slice=parts[1])
        yield _with(node, slice=ast.Tuple([parts[1], parts[0], *parts[2:]], ast.Load()))


@slip
def the_order_of_axes(node: ast.AST, around: Around) -> Iterator[Replacement]:
    if not isinstance(node, ast.Call) or _called(node) not in _AXES:
        return
    for index in range(len(node.args) - 1):
        yield _with(node, args=_exchanged(node.args, index))
    if _called(node) == "transpose" and len(node.args) == 2:
        for pair in ((0, 1), (1, 2), (2, 3), (-2, -1)):
            yield _with(node, args=[_constant(axis) for axis in pair])


@slip
def the_letters_of_a_pattern(node: ast.AST, around: Around) -> Iterator[Replacement]:
    """Of einsum and einops: two of the result exchanged."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "->" in node.value:
        before, after = node.value.split("->")
        letters = [letter for letter in dict.fromkeys(after) if letter.isalpha()]
        for one, other in pairwise(letters):
            turned = after.translate(str.maketrans(f"{one}{other}", f"{other}{one}"))
            yield ast.Constant(f"{before}->{turned}")


@slip
def a_constant(node: ast.AST, around: Around) -> Iterator[Replacement]:
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
    ):
        value = node.value
        if isinstance(value, float) and value < 1e-3:
            return  # of an eps: another is right in some course
        for other in (value + 1, value - 1, value * 2, value / 2 if isinstance(value, float) else value // 2):
            if other != value:
                yield _constant(other)


_SINGLE = (ast.Assign, ast.AugAssign, ast.Expr)  # statements of one line


@slip
def a_dropped_statement(node: ast.AST, around: Around) -> Iterator[Replacement]:
    if isinstance(node, _SINGLE):
        yield []


@slip
def a_doubled_statement(node: ast.AST, around: Around) -> Iterator[Replacement]:
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        yield [node, node]


@slip
def a_dropped_call(node: ast.AST, around: Around) -> Iterator[Replacement]:
    """What it is called on stands there alone."""
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in _MODULES:
        yield node.func.value
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield node.args[0]


@slip
def a_forgotten_assignment(node: ast.AST, around: Around) -> Iterator[Replacement]:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        yield [ast.Expr(node.value)]


@slip
def an_argument(node: ast.AST, around: Around) -> Iterator[Replacement]:
    """Left out, or exchanged with its neighbour."""
    if not isinstance(node, ast.Call) or _called(node) in _AXES:
        return
    for index in range(len(node.args)):
        if len(node.args) + len(node.keywords) > 1:
            yield _with(node, args=[*node.args[:index], *node.args[index + 1 :]])
        if index:
            yield _with(node, args=_exchanged(node.args, index - 1))
    for index in range(len(node.keywords)):
        yield _with(node, keywords=[*node.keywords[:index], *node.keywords[index + 1 :]])


@slip
def two_lines_exchanged(node: ast.AST, around: Around) -> Iterator[Replacement]:
    if isinstance(node, _SINGLE) and isinstance(around.following, _SINGLE):
        yield [around.following, node]


@slip
def a_neighbouring_name(node: ast.AST, around: Around) -> Iterator[Replacement]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in around.names - {"self"}:
        for other in sorted(around.names - {node.id, "self"}):
            yield _with(node, id=other)


@slip
def a_layer_reused(node: ast.AST, around: Around) -> Iterator[Replacement]:
    """Another of the same class's layers."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    if getattr(node.value, "id", "") == "self" and node.attr in around.attributes:
        for other in around.attributes:
            if other != node.attr:
                yield _with(node, attr=other)


@slip
def a_range_off_by_one(node: ast.AST, around: Around) -> Iterator[Replacement]:
    if _called(node) == "range":
        assert isinstance(node, ast.Call)
        last = node.args[-1]
        yield _with(node, args=[*node.args[:-1], ast.BinOp(last, ast.Sub(), ast.Constant(1))])
        yield _with(node, args=[*node.args[:-1], ast.BinOp(last, ast.Add(), ast.Constant(1))])
        if len(node.args) == 1:
            yield _with(node, args=[ast.Constant(1), last])
    if isinstance(around.parent, ast.For) and node is around.parent.iter and isinstance(node, ast.Attribute):
        yield ast.Subscript(node, ast.Slice(None, ast.UnaryOp(ast.USub(), ast.Constant(1))), ast.Load())
        yield ast.Subscript(node, ast.Slice(ast.Constant(1), None), ast.Load())


@slip
def a_condition_turned(node: ast.AST, around: Around) -> Iterator[Replacement]:
    if isinstance(node, ast.IfExp):
        yield _with(node, body=node.orelse, orelse=node.body)
    if isinstance(node, ast.Compare):
        yield ast.UnaryOp(ast.Not(), node)
