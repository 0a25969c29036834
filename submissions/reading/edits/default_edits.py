"""Another default of an argument: the line to change where no call says what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .edit import Edit
from .function_text import FunctionText
from .number_edits import AXES, AXIS_NAMES


def of_defaults(here: FunctionText) -> Iterator[Edit]:
    """Another axis, the other answer, or a word in small letters; a size is no slip by itself."""
    for argument, given in _defaults(here.scope.function.args):
        for other in map(repr, _others(argument, given)):
            if other != here.text(given):
                yield here.edit("option", given, other, name=argument.arg, role="default")


def _defaults(given: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """Each argument that may be left out, and what it then is."""
    places = [*given.posonlyargs, *given.args]
    yield from zip(places[len(places) - len(given.defaults) :], given.defaults)
    yield from ((one, value) for one, value in zip(given.kwonlyargs, given.kw_defaults) if value is not None)


def _others(argument: ast.arg, given: ast.expr) -> tuple[object, ...]:
    match given:
        case ast.Constant(value=bool() as now):
            return (not now,)
        case ast.Constant(value=str() as now):
            return (now.lower(),)
    return AXES if argument.arg in AXIS_NAMES else ()
