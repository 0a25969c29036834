"""All small changes of a program: in the place of one operator, name, number, call or statement.

They undo the slips that people make: a sign, an axis, a variable of a similar name, a line too many, a layer
that is never called. Nothing here executes student code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from ..code_scopes import scopes
from ..python_text import tree as python_tree
from .call_edits import of_call, of_slice
from .default_edits import of_defaults
from .edit import Edit
from .function_text import FunctionText
from .library_edits import of_flag, of_library, of_repeated, of_several
from .missing_edits import of_nothing, with_more
from .name_edits import of_attribute, of_variable
from .number_edits import of_axes, of_count, of_index, of_number, of_pattern, of_stored
from .operator_edits import of_assignment, of_choice, of_comparison, of_negation, of_operation
from .statement_edits import Statement, of_body, of_loop, of_statement, of_targets

_MOST = 20_000  # changes of one file, of code that nobody has written by hand


def edits(file: str, text: str) -> list[Edit]:
    """Small changes of what functions and methods in ``text`` do; none where it is no Python.

    Of what nobody has written by hand there are no more than 20,000.
    """
    tree = python_tree(text)
    if tree is None:
        return []
    found = (one for scope in scopes(tree) for one in _of_function(FunctionText(file, text, scope)))
    return [one for one in dict.fromkeys(islice(found, _MOST)) if one.old != one.new]


def _of_function(here: FunctionText) -> Iterator[Edit]:
    body = here.scope.function.body
    yield from of_defaults(here)
    for node in (one for statement in body for one in ast.walk(statement)):
        if isinstance(node, (ast.expr, ast.stmt)) and here.is_short(node):
            yield from _of(here, node)
    yield from of_body(here, body)


def _of(here: FunctionText, node: ast.expr | ast.stmt) -> Iterator[Edit]:
    match node:
        case ast.BinOp():
            yield from (*of_operation(here, node), *of_repeated(here, node))
        case ast.ListComp():
            yield from of_repeated(here, node)
        case ast.AugAssign():
            yield from of_assignment(here, node)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            yield from of_number(here, node)
        case ast.UnaryOp():
            yield from of_negation(here, node)
        case ast.Constant():
            yield from (*of_number(here, node), *of_pattern(here, node), *of_flag(here, node))
        case ast.Tuple() | ast.List():
            yield from of_several(here, node)
        case ast.IfExp():
            yield from of_choice(here, node)
        case ast.Compare():
            yield from of_comparison(here, node)
        case ast.Name(ctx=ast.Load()):
            yield from of_variable(here, node)
        case ast.Attribute(ctx=ast.Load()):
            yield from of_attribute(here, node)
        case ast.Call():
            yield from (
                *of_call(here, node),
                *of_axes(here, node),
                *of_count(here, node),
                *of_library(here, node),
            )
        case ast.Subscript(ctx=ast.Load()):
            yield from (*of_slice(here, node), *of_index(here, node))
        case ast.Assign():
            yield from (*of_stored(here, node), *of_targets(here, node))
        case ast.For():
            yield from of_loop(here, node)
        case ast.Pass():
            yield from of_nothing(here, node)
    if isinstance(node, Statement):
        yield from of_statement(here, node)
    if isinstance(node, (ast.Name, ast.Call, ast.BinOp, ast.Subscript)):
        yield from with_more(here, node)
    if isinstance(node, (ast.For, ast.While, ast.If, ast.With)):
        yield from of_body(here, node.body)
