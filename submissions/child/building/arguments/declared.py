"""What a class or function of the student's says of its arguments."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from torch import nn

from ...loading.definitions import Definition, Definitions
from ..calls.parameter_names import normalise

_EMPTY = inspect.Parameter.empty
_ALIKE = 0.8  # names: as alike as "inputembedder" and "inputembedding"


def may_be_a_size(own: object) -> bool:
    """Is it a number, or are they two or three, that may be sides?"""
    some = own if isinstance(own, (tuple, list)) and len(own) in (2, 3) else (own,)
    return all(type(one) in (int, float) and one >= 1 for one in some)


def part_of(
    definitions: Definitions, definition: Definition, name: str, annotation: str
) -> Definition | None:
    """Find the student's class that an argument is an instance of, by its annotation or its name."""
    types = [one for one in definitions.all.values() if one.is_part and one != definition]
    annotated = [one for one in types if one.name in re.findall(r"\w+", annotation)]
    plain = normalise(name)
    alike = [one for one in types if len(plain) > 2 and _is_named_alike(plain, normalise(one.name))]
    return next(iter(annotated + sorted(alike, key=lambda one: len(one.name))), None)


def _is_named_alike(plain: str, type_name: str) -> bool:
    """Is it ``embedding`` of ``PatchEmbedding``, or ``patch_embedder``?"""
    return plain in type_name or bool(difflib.get_close_matches(plain, [type_name], cutoff=_ALIKE))


def parameters_of(target: Any) -> list[inspect.Parameter]:
    """List the parameters that the student declared; none where the constructor is ``nn.Module``'s own."""
    constructor = getattr(target, "__init__", None)
    is_plain = constructor in (nn.Module.__init__, object.__init__) and not hasattr(target, "_fields")
    if isinstance(target, type) and is_plain:  # a named tuple has fields, and says them
        return []
    try:
        return list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return []


def attributes_held(definition: Definition) -> dict[str, object]:
    """What the class holds, and an instance of it, if its constructor demands nothing and raises nothing."""
    target: Any = definition.value
    held = {name: getattr(target, name, None) for name in dir(target)}
    with suppress(Exception, SystemExit):
        held |= {} if any(map(_is_demanded, parameters_of(target))) else vars(target())
    return held


def constants_held(definition: Definition) -> dict[str, object]:
    """The numbers that the body of a class writes out under names; none where it makes others of them."""
    if not isinstance(definition.node, ast.ClassDef):
        return {}
    names = [node for one in definition.node.body for node in _names_at_once(one)]
    written = {node.id for one in definition.node.body if _is_written(one) for node in _names_at_once(one)}
    held = {name: one for name, one in vars(definition.value).items() if type(one) in (int, float)}
    found = {name: one for name, one in held.items() if name in written}
    return {} if any(node.id in found for node in names if isinstance(node.ctx, ast.Load)) else found


def _names_at_once(statement: ast.stmt) -> Iterator[ast.Name]:
    """The names of what is evaluated as soon as the class is made: all but the bodies of its methods."""
    parts = statement.args.defaults if isinstance(statement, ast.FunctionDef) else [statement]
    yield from (node for part in parts for node in ast.walk(part) if isinstance(node, ast.Name))


def _is_written(statement: ast.stmt) -> bool:
    """Is it ``DEPTH = 4``, with all of its value written out?"""
    return isinstance(statement, ast.Assign) and all(
        isinstance(node, (ast.Constant, ast.Tuple, ast.expr_context)) for node in ast.walk(statement.value)
    )


def _is_demanded(parameter: inspect.Parameter) -> bool:
    is_rest = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is _EMPTY and not is_rest


def annotation_text(annotation: object) -> str:
    if annotation is _EMPTY:
        return ""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
