"""Options that code puts over its own: ``defaults.update(options)``, ``{**defaults, **options}``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from ...loading.definitions import Definition, Definitions, named_values
from ...loading.execution import Loaded
from ...loading.keys import inside


def defaults_of(definition: Definition, definitions: Definitions, name: str) -> dict[str, object]:
    """What ``**name`` may give instead, with what stands there, as far as that is written out."""
    found: dict[str, object] = {}
    for below, given in _put_over(definition.node):
        if isinstance(given, ast.Name) and given.id == name:
            found |= _held(definition, definitions, below)
    return found


def held_instead(definition: Definition, loaded: Loaded, name: str) -> dict[str, object]:
    """What is read where the argument ``name`` is left out: ``CONFIG`` of ``name or CONFIG``."""
    for one in inside(definition.node):
        match one:
            case ast.BoolOp(op=ast.Or(), values=[ast.Name(id=given), ast.Name(id=other)]) if given == name:
                held = (vars(module).get(other) for module in loaded.modules.values())
                return next((dict(found) for found in held if isinstance(found, dict)), {})
    return {}


def _put_over(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Of two dictionaries in one, which is below."""
    for one in inside(node):
        match one:
            case ast.Call(func=ast.Attribute(value=below, attr="update"), args=[given]):
                yield below, given
            case ast.BinOp(left=below, op=ast.BitOr(), right=given):
                yield below, given
            case ast.Call(func=ast.Name(id="dict"), args=[below], keywords=[ast.keyword(None, given)]):
                yield below, given
            case ast.Dict(keys=[None, None], values=[below, given]):
                yield below, given


def _held(definition: Definition, definitions: Definitions, below: ast.expr) -> dict[str, object]:
    if not isinstance(below, ast.Name):
        return _written(below)
    for one in inside(definition.node):
        match one:
            case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == below.id:
                return _written(value)
    with suppress(LookupError):
        outer = definitions.written_value(below.id, definition)
        return outer if isinstance(outer, dict) else {}
    return {}


def _written(value: ast.expr) -> dict[str, object]:
    """Of ``{"depth": 4}`` or ``dict(depth=4)``, the keys whose values are literals."""
    found: dict[str, object] = {}
    match value:
        case ast.Dict() | ast.Call(func=ast.Name(id="dict"), args=[]):
            for key, held in named_values(value):
                with suppress(ValueError):
                    found[key] = ast.literal_eval(held)
    return found
