"""Child side: weights as code outside of the model's class initialises them, by ``model.apply(function)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import suppress

from torch import nn

from ...reading.code_scopes import called
from ..building.recipe import silence
from ..loading.execution import Loaded


def initialised(model: nn.Module, loaded: Loaded) -> nn.Module:
    """The model behind all functions that the student's code applies to the modules of some model."""
    for function in _applied(loaded):
        with silence(), suppress(Exception):  # it may be for another model
            model.apply(function)
    return model


def _applied(loaded: Loaded) -> Iterator[Callable[[nn.Module], None]]:
    """The functions of the module; those that a class applies have run when it was built."""
    for module, body in loaded.program.statements.items():
        names = vars(loaded.modules[module]) if module in loaded.modules else {}
        outside = (one.node for one in body if not isinstance(one.node, ast.ClassDef))
        for call in (one for node in outside for one in ast.walk(node) if called(one) == "apply"):
            match call:
                case ast.Call(func=ast.Attribute(), args=[ast.Name(id=name)]) if callable(names.get(name)):
                    yield names[name]
