"""A call too many, arguments in the other order, and one that a call beside it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code_scopes import called, makes_object
from .edit import Edit
from .function_text import FunctionText

_MOST = 50  # calls of one name in a function, of code that nobody has written by hand


def of_call(here: FunctionText, node: ast.Call) -> Iterator[Edit]:
    first = next((one for one in node.args if not isinstance(one, ast.Starred)), None)
    if first is not None and not _makes(node):
        yield here.edit("extra", node, here.text(first))
    if isinstance(node.func, ast.Attribute) and _is_tensor(here, node.func.value):
        yield here.edit("extra", node, here.text(node.func.value))
    yield from here.reordered(node.args)
    yield from _as_beside(here, node)


def _as_beside(here: FunctionText, node: ast.Call) -> Iterator[Edit]:
    """With one argument more, as another call of the same in this function has it."""
    given = _arguments(here, node)
    longer = (one for one in here.calls[called(node)][:_MOST] if _count(one) == _count(node) + 1)
    for more in (_arguments(here, one) for one in longer):
        if any(more[:place] + more[place + 1 :] == given for place in range(len(more))):
            yield here.edit("argument", node, f"{here.text(node.func)}({', '.join(more)})", telling=1)


def _count(call: ast.Call) -> int:
    return len(call.args) + len(call.keywords)


def _arguments(here: FunctionText, node: ast.Call) -> list[str]:
    named = (
        f"{one.arg}={here.text(one.value)}" if one.arg else f"**{here.text(one.value)}"
        for one in node.keywords
    )
    return [*map(here.text, node.args), *named]


def _makes(call: ast.Call) -> bool:
    """Is it of a class, or what makes something of numbers: no step on the way of a tensor?"""
    return makes_object(call) or called(call) in ("super", "range")


def _is_tensor(here: FunctionText, value: ast.expr) -> bool:
    """May a tensor's method be called of it? Not where it is ``self``, an imported module or super()."""
    if isinstance(value, ast.Call):
        return not _makes(value)
    return not isinstance(value, ast.Name) or value.id in (*here.scope.names, *here.scope.unbound)


def of_slice(here: FunctionText, node: ast.Subscript) -> Iterator[Edit]:
    """All of it, what nothing uses in its place, or the piece that comes behind it."""
    yield here.edit("extra", node, here.text(node.value))
    yield from (here.edit("variable", node, one, telling=1) for one in here.scope.idle)
    for one in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
        if isinstance(one, ast.Slice) and one.lower is not None and one.upper is not None:
            start, end = here.text(one.lower), here.text(one.upper)
            yield here.edit("number", one, f"{end}:2 * ({end}) - ({start})")
