"""Which lines stand for code that is still to be written."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..errors import Frame
from .code import clean
from .python_text import decode, nodes


class Unwritten(NamedTuple):
    """A place that is not written yet, and the name of the function or the variable."""

    frame: Frame
    name: str


def unwritten(files: Mapping[str, bytes]) -> list[Unwritten]:
    """Return such places, file by file.

    They are functions that end in ``pass`` or in NotImplementedError, and three dots as a line or a variable.
    """
    found = {
        Unwritten(Frame(file, line), name)
        for file, content in files.items()
        for node in nodes(clean(decode(content))[0])
        for line, name in _places(node)
    }
    return sorted(found)


def handed_back(files: Mapping[str, bytes]) -> list[Frame]:
    """The lines on which a ``forward`` ends with what it was given, and never changed."""
    return [
        Frame(file, node.body[-1].lineno)
        for file, content in files.items()
        for node in nodes(clean(decode(content))[0])
        if isinstance(node, ast.FunctionDef) and node.name == "forward" and _is_handed_back(node)
    ]


def _is_handed_back(function: ast.FunctionDef) -> bool:
    last = function.body[-1]
    name = last.value.id if isinstance(last, ast.Return) and isinstance(last.value, ast.Name) else ""
    names = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == name]
    given = name in (one.arg for one in function.args.args)
    return given and all(isinstance(one.ctx, ast.Load) for one in names)


def _places(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_dots(node.value):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        yield node.lineno, getattr(target, "id", "")
    if isinstance(node, ast.Expr) and _is_dots(node.value):
        yield node.lineno, ""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_placeholder(node.body[-1]):
        yield node.body[-1].lineno, node.name


def _is_placeholder(last: ast.stmt) -> bool:
    if isinstance(last, ast.Raise):
        raised = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    return isinstance(last, ast.Pass) or (isinstance(last, ast.Return) and _is_dots(last.value))


def _is_dots(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is Ellipsis
