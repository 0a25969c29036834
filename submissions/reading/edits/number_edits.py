"""Another number: an axis, an index, an exponent, a size."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from ..code_scopes import called, name_of
from .edit import Edit
from .function_text import FunctionText

AXES = (-1, -2, 1, 2, 0, 3)
_TAKES_AXES = {
    "transpose", "permute", "swapaxes", "movedim", "softmax", "log_softmax", "cat", "concat", "stack", "mean",
    "sum", "max", "var", "std", "flatten", "unflatten", "chunk", "split", "squeeze", "unsqueeze", "size",
}  # fmt: skip
AXIS_NAMES = ("dim", "axis", "dims", "dim0", "dim1", "start_dim", "end_dim")
_HAVE_AN_AXIS = ("cat", "concat", "stack", "mean", "sum", "softmax", "flatten", "squeeze")  # of their own
_EXCHANGES_AXES = ("transpose", "swapaxes")
_TABLES = ("zeros", "ones", "rand", "randn", "empty", "Embedding")
_PAIRS = ("1, 2", "-2, -1", "2, 3", "0, 1")
_PAIR = re.compile(r"\((\w+) +(\w+)\)")  # of a rearrangement: what one axis is split into


def of_number(here: FunctionText, node: ast.UnaryOp | ast.Constant) -> Iterator[Edit]:
    parent = here.parent(node)
    if isinstance(parent, ast.UnaryOp):
        return
    try:
        now = ast.literal_eval(node)
    except (ValueError, TypeError):
        return
    if type(now) is float:  # an exponent of 0 only undoes what is a step too many
        nothing = () if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) else (0.0,)
        others = dict.fromkeys((*nothing, -now, now / 2, now * 2))
        yield from (here.edit("number", node, str(one)) for one in others if one != now)
    elif type(now) is int and called(parent) != "permute":  # which has each axis once
        axes = AXES if _is_axis(here, node) else (now * 2, now // 2)
        others = dict.fromkeys((*axes, now + 1, now - 1))
        left_out = (now, _idle(here, node))
        yield from (here.edit("number", node, str(one)) for one in others if one not in left_out)
        if here.is_constructor:
            yield from _of_size(here, node)


def _of_size(here: FunctionText, node: ast.expr) -> Iterator[Edit]:
    """A size that was computed, and is not used."""
    scope = here.scope
    for name in (*scope.idle, *(f"self.{one}" for one in scope.unread)):
        yield from (here.edit("number", node, text, telling=1) for text in (f"({name} + 1)", name))


def of_stored(here: FunctionText, node: ast.Assign) -> Iterator[Edit]:
    """A size that is kept under another name, and is a share of it."""
    size, kept = name_of(node.value), name_of(node.targets[0]).removeprefix("self.")
    if here.is_constructor and kept not in ("", size) and size in here.scope.names:
        others = (one for one in here.scope.names if one != size)
        yield from (here.edit("number", node.value, f"{size} // {one}") for one in others)


def _idle(here: FunctionText, node: ast.AST) -> int | None:
    """The number with which an operation does nothing, which is told as a step too many."""
    operation = here.parent(node)
    if not isinstance(operation, ast.BinOp):
        return None
    return 0 if isinstance(operation.op, (ast.Add, ast.Sub)) else 1


def _is_axis(here: FunctionText, node: ast.AST) -> bool:
    parent = here.parent(node)
    if isinstance(parent, ast.keyword):
        return parent.arg in AXIS_NAMES
    if isinstance(parent, ast.Call):
        return called(parent) in _TAKES_AXES
    return isinstance(parent, (ast.Subscript, ast.Tuple))


def of_axes(here: FunctionText, node: ast.Call) -> Iterator[Edit]:
    """Two other axes that are exchanged, or an axis that is not named."""
    name, axes = called(node), [one for one in node.args if isinstance(one, (ast.Constant, ast.UnaryOp))]
    if name in _EXCHANGES_AXES and len(axes) == 2:
        now = {here.text(one) for one in axes}
        others = (pair for pair in _PAIRS if not now & {*pair.split(", ")})  # or one number is changed
        yield from (here.spanning("number", axes[0], axes[1], pair) for pair in others)
    elif name in _HAVE_AN_AXIS and not axes and not node.keywords:
        axes_given = (here.with_argument(node, str(axis)) for axis in (1, -1, 2, 0))
        yield from (here.edit("argument", node, one) for one in axes_given)


def of_index(here: FunctionText, node: ast.Subscript) -> Iterator[Edit]:
    """Of the second axis, or in the other order."""
    if isinstance(node.slice, ast.Tuple):
        yield from here.reordered(node.slice.elts)
    else:
        yield here.edit("number", node.slice, f":, {here.text(node.slice)}")


def of_pattern(here: FunctionText, node: ast.Constant) -> Iterator[Edit]:
    """Of an einsum or rearrangement: two axes exchanged, or another one of what it reads."""
    if isinstance(node.value, str) and "->" in node.value and here.text(node)[1:-1] == node.value:
        quote, (before, _, after) = here.text(node)[0], node.value.partition("->")
        for turned in _turned(after):
            yield here.edit("order", node, f"{quote}{before}->{turned}{quote}")
        for turned in _turned(before) if "," in before else ():
            yield here.edit("order", node, f"{quote}{turned}->{after}{quote}")
        for turned in _split_otherwise(before):
            yield here.edit("order", node, f"{quote}{turned}->{after}{quote}")
        for axis in re.finditer(r"\w", before if "," in before else ""):
            for letter in sorted({*re.findall(r"\w", before + after)} - {axis[0]}):
                read = f"{before[: axis.start()]}{letter}{before[axis.end() :]}"
                yield here.edit("number", node, f"{quote}{read}->{after}{quote}")


def _turned(pattern: str) -> Iterator[str]:
    """With two neighbouring axes of one tensor exchanged."""
    for one, other in pairwise(re.finditer(r"\w+" if " " in pattern.strip() else r"\w", pattern)):
        between = pattern[one.end() : other.start()]
        if "," not in between:
            yield f"{pattern[: one.start()]}{other[0]}{between}{one[0]}{pattern[other.end() :]}"


def _split_otherwise(pattern: str) -> Iterator[str]:
    """With the two axes that one is split into in the other order: of all that are split so, then of each."""
    pairs = list(_PAIR.finditer(pattern))
    if len(pairs) > 1:
        yield _PAIR.sub(r"(\2 \1)", pattern)
    for pair in pairs:
        yield f"{pattern[: pair.start()]}({pair[2]} {pair[1]}){pattern[pair.end() :]}"


def of_count(here: FunctionText, node: ast.Call) -> Iterator[Edit]:
    """One row more, or less, of a table that is made."""
    if here.is_constructor and called(node) in _TABLES:
        counts = (one for one in node.args if isinstance(one, (ast.Name, ast.Attribute, ast.BinOp)))
        yield from (
            here.edit("number", one, f"({here.text(one)} {sign} 1)") for one in counts for sign in "+-"
        )
