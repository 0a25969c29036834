"""Classes whose base is of a package that is not installed, such as ``pl.LightningModule``."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Collection, Mapping

import torch
from torch import nn

from ...reading.python_text import base_name
from ..settings import Settings

_NAME = "__absent_base__"


class AbsentBase(nn.Module):
    """Stands in for a base that adds to ``nn.Module``; it keeps arguments as Lightning's does."""

    hparams: Settings

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()

    @property
    def device(self) -> torch.device:
        """Where its first parameter lies."""
        return next((one.device for one in self.parameters()), torch.device("cpu"))

    def save_hyperparameters(self, *asked: object, ignore: Collection[str] = (), **_: object) -> None:
        """Keep the arguments of the constructor that calls this, or those that are ``asked`` for."""
        given = sys._getframe(1).f_locals
        left = {"self", "__class__", *([ignore] if isinstance(ignore, str) else ignore)}
        names = [one for one in asked if isinstance(one, str)]
        found = {
            name: one for name, one in given.items() if name not in left and (not names or name in names)
        }
        for one in asked:
            found.update(one if isinstance(one, Mapping) else {})
        self.hparams = Settings(found)

    def _does_nothing(self, *_: object, **__: object) -> None:
        """What a base does for training alone."""

    log = log_dict = post_init = init_weights = _does_nothing


def lacks_base(node: ast.stmt, absent: Collection[str], extended: Collection[str]) -> bool:
    """Is it a class that cannot be made, since what it derives from or is decorated with is ``absent``?

    One without a forward, whose name is not among those that are ``extended``, has all of that from there.
    """
    if not isinstance(node, ast.ClassDef):
        return False
    own = any(isinstance(one, ast.FunctionDef) and one.name == "forward" for one in node.body)
    outside = (*node.bases, *map(_called, node.decorator_list))
    return (own or node.name in extended) and any(base_name(one) in absent for one in outside)


def with_stand_in(node: ast.stmt, absent: Collection[str], namespace: dict[str, object]) -> ast.stmt:
    """The class with ``AbsentBase`` for what is absent, or nothing where another base is a module."""
    assert isinstance(node, ast.ClassDef)
    there = [one for one in node.bases if base_name(one) not in absent]
    found = copy.copy(node)
    found.decorator_list = [one for one in node.decorator_list if base_name(_called(one)) not in absent]
    found.bases = there
    if len(there) < len(node.bases) and not any(_is_module(one, namespace) for one in there):
        found.bases = [*there, ast.copy_location(ast.Name(_NAME, ast.Load()), node)]
        namespace[_NAME] = AbsentBase
    return found


def _called(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _is_module(base: ast.expr, namespace: dict[str, object]) -> bool:
    found = eval(compile(ast.Expression(base), "<base>", "eval"), namespace)
    return isinstance(found, type) and issubclass(found, nn.Module)
