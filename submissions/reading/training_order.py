"""What the student's own training code does in the wrong order, as far as the code alone tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ..errors import Frame
from .code import parsed
from .code_scopes import called, makes_object, name_of, receiver

_LATER_PARAMETERS = "add_param_group"


def cleared_before_step(files: Mapping[str, bytes]) -> Iterator[Frame]:
    """The lines that clear gradients right before a step of the same optimizer, which has none to follow."""
    for file, block in blocks(files):
        calls = [call for one in block for call in calls_in(one)]
        for first, second in pairwise(calls):
            follow = called(first) == "zero_grad" and called(second) == "step" and not second.args
            if follow and receiver(first) == receiver(second) != "":
                yield Frame(file, first.lineno)


def optimizer_before_layer(files: Mapping[str, bytes]) -> Iterator[Frame]:
    """The lines that give an optimizer the parameters of a model, a layer of which is made anew behind them.

    Nothing where the optimizer is made anew, too, or is not used any more.
    """
    for file, block in blocks(files):
        for at, one in enumerate(block):
            for optimizer, model in optimized(one):
                rest = block[at + 1 :]
                replaced = next((n for n, each in enumerate(rest) if _replaces_layer(each, model)), None)
                if replaced is not None and _is_used(rest[replaced + 1 :], optimizer):
                    yield Frame(file, one.lineno)


def optimized(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names of an optimizer that is made there, and of the model whose parameters it is given."""
    if isinstance(statement, ast.Assign) and makes_object(statement.value):
        given = (one for one in calls_in(statement.value) if called(one) == "parameters" and not one.args)
        models = {receiver(one) for one in given} - {""}
        yield from ((name_of(target), model) for target in statement.targets for model in models)


def _replaces_layer(statement: ast.stmt, model: str) -> bool:
    """Is an attribute of the model set to a layer that is made there?"""
    if not isinstance(statement, ast.Assign) or not makes_object(statement.value):
        return False
    attributes = (one for one in statement.targets if isinstance(one, ast.Attribute))
    return any(name_of(one.value) == model for one in attributes)


def _is_used(block: Sequence[ast.stmt], optimizer: str) -> bool:
    """Is it used as it is, before it is made anew?"""
    for statement in block:
        names = [one for one in ast.walk(statement) if name_of(one) == optimizer]
        is_new = any(isinstance(getattr(one, "ctx", None), ast.Store) for one in names)
        if names:
            is_told = any(called(one) == _LATER_PARAMETERS for one in calls_in(statement))
            return not is_new and not is_told
    return False


def blocks(files: Mapping[str, bytes]) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Statements that run one after the other."""
    for file, tree in parsed(files):
        for node in ast.walk(tree):
            found = (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
            yield from ((file, one) for one in found if isinstance(one, list) and one)


def calls_in(node: ast.AST) -> list[ast.Call]:
    """In the order in which they stand."""
    found = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    return sorted(found, key=lambda one: (one.lineno, one.col_offset))
