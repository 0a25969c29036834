"""Child side: weights as code outside of the model's class initialises them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from torch import nn

from ...reading.code_scopes import called
from ..building.recipe import silence
from ..loading.execution import Loaded

_TRAINING = "backward"  # what is called by no function that only initialises


def initialised(model: nn.Module, loaded: Loaded) -> nn.Module:
    """The model behind all functions by which the student's code initialises some model."""
    for function in _initialising(loaded):
        with silence(), suppress(Exception):  # it may be for another model
            function(model)
    return model


def _initialising(loaded: Loaded) -> Iterator[Callable[[nn.Module], object]]:
    """By ``model.apply(fill)``, or ``fill(model)``; what a class does so has been done when it was built."""
    for module, body in loaded.program.statements.items():
        names = vars(loaded.modules[module]) if module in loaded.modules else {}
        outside = [one.node for one in body if not isinstance(one.node, ast.ClassDef)]
        filling = {one.name for one in outside if isinstance(one, ast.FunctionDef) and _fills(one)}
        for call in (one for node in outside for one in ast.walk(node) if isinstance(one, ast.Call)):
            match call:
                case ast.Call(ast.Attribute(attr="apply"), [ast.Name(name)]) if callable(names.get(name)):
                    yield partial(_apply, names[name])
                case ast.Call(ast.Name(name), [ast.Name()]) if name in filling and callable(names.get(name)):
                    yield names[name]


def _apply(fill: Callable[[nn.Module], None], model: nn.Module) -> None:
    model.apply(fill)


def _fills(function: ast.FunctionDef) -> bool:
    """Does it write into tensors of what it is given, by ``nn.init`` or methods such as ``zero_``?"""
    calls = {called(one) for one in ast.walk(function) if isinstance(one, ast.Call)}
    return _TRAINING not in calls and any(one.endswith("_") and not one.startswith("_") for one in calls)
