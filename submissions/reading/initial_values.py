"""What the student's code fills weights with, as far as the code alone tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ..errors import Frame
from .code import texts
from .code_scopes import called
from .python_text import nodes

_NORMAL = ("normal_", "trunc_normal_")  # each takes the mean before the standard deviation
_SPREAD = 0.1  # a number other than 0 that is no larger is a spread


def spread_as_mean(files: Mapping[str, bytes]) -> Iterator[Frame]:
    """The lines that give the standard deviation in the mean's place, so that it is 1 as by default.

    Functions of these names that the student wrote may take anything.
    """
    every = [(file, node) for file, text in texts(files) for node in nodes(text)]
    own = {node.name for _, node in every if isinstance(node, ast.FunctionDef)}
    for file, node in every:
        if isinstance(node, ast.Call) and called(node) in {*_NORMAL} - own and _gives_spread_alone(node):
            yield Frame(file, node.lineno)


def _gives_spread_alone(call: ast.Call) -> bool:
    numbers = [*map(_number, call.args)]
    given = numbers[1:] if numbers[:1] == [None] else numbers  # a function is given the tensor first
    return not call.keywords and len(given) == 1 and 0 < abs(given[0] or 0) <= _SPREAD


def _number(value: ast.expr) -> float | None:
    if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)):
        return float(value.value)
    return None
