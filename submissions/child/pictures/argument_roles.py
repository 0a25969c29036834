"""What the arguments of a function are, told by what they are used for, never by their names."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from torch import nn

from ..loading.definitions import Definition, Definitions
from ..loading.execution import Loaded

_READS = {  # what libraries call opening a picture, and making a tensor of one
    *("Image", "open", "imread", "read_image", "decode_image", "array", "asarray", "tensor", "as_tensor"),
    *(
        "from_numpy",
        "to_tensor",
        "pil_to_tensor",
        "to_image",
        "ToTensor",
        "PILToTensor",
        "ToImage",
        "transforms",
    ),
}
_CHOOSES = {"argmax", "max", "topk", "sort", "softmax", "sigmoid"}  # by which a class is told from scores
_OF_A_MODEL = (
    "eval",
    "train",
    "forward",
    "parameters",
    "load_state_dict",
)  # neither a picture's nor a tensor's
_MOST_NEEDED = 4  # arguments without a default
_TRANSFORMS = "torchvision.transforms"
MISSING = object()


class Role(Enum):
    """What an argument, or a name that a function reads, stands for."""

    MODEL = "model"  # or a transform: it is called
    DEVICE = "device"
    LABELS = "labels"  # of the classes, by number
    OTHER = "other"  # a picture, or else a side of it


@dataclass(frozen=True)
class Way:
    """One way to call a function: ``place`` is the argument that takes the picture."""

    function: Definition
    place: str
    roles: Mapping[str, Role]  # of the other arguments that it needs


class ArgumentRoles:
    """Reads the submission's functions."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.definitions = Definitions(loaded)

    def ways(self) -> Iterator[Way]:
        """Ways to call what may read a picture, functions that no other of them uses first."""
        own = [*self.definitions.all.values(), *filter(self.is_about_itself, self.definitions.methods())]
        functions = [one for one in own if self._may_read(one)]
        used = {name for one in functions for name in _read(one.node) - {one.name}}
        for function in sorted(functions, key=lambda one: one.name in used):
            roles = {name: self.role(function, name) for name in _needed(function.value)}
            if len(roles) <= _MOST_NEEDED:
                for place in (name for name, role in roles.items() if role is Role.OTHER):
                    yield Way(function, place, {name: one for name, one in roles.items() if name != place})

    def is_about_itself(self, method: Definition) -> bool:
        """Does a model's method ask the model as a whole, in whose place another may stand?"""
        needed = _needed(method.value)
        return bool(needed) and self.role(method, needed[0]) is Role.MODEL

    def used(self, function: Definition) -> list[Definition]:
        """The function, and the functions of the student's that it uses."""
        return [one for one in self.definitions.reachable(function) if not one.is_class]

    def outer_names(self, function: Definition) -> dict[str, object]:
        """What it reads from its file, by name; ``MISSING`` where the file has no such name."""
        held = vars(self.loaded.modules[function.module])
        names = {one.id for one in ast.walk(function.node) if isinstance(one, ast.Name)} - _bound(
            function.node
        )
        return {name: held.get(name, getattr(builtins, name, MISSING)) for name in names}

    def role(self, function: Definition, name: str, seen: frozenset[str] = frozenset()) -> Role:
        """What ``name`` is used for in a function, or in one that it is handed on to."""
        if function.name in seen:
            return Role.OTHER
        for node in ast.walk(function.node):
            told = _role_in(node, name)
            if told is None and (handed := self._handed_on(node, name)):
                told = self.role(*handed, seen | {function.name})
            if told not in (None, Role.OTHER):
                return told
        return Role.OTHER

    def _handed_on(self, node: ast.AST, name: str) -> tuple[Definition, str] | None:
        """The function of the student's that a call gives ``name`` to, and what that calls it."""
        named = node.func if isinstance(node, ast.Call) else None
        to = self.definitions.all.get(named.id) if isinstance(named, ast.Name) else None
        if to is None or not isinstance(node, ast.Call) or not isinstance(to.node, ast.FunctionDef):
            return None
        places = [one.arg for one in to.node.args.args]
        given = [*zip(places, node.args), *((one.arg, one.value) for one in node.keywords)]
        return next(((to, key) for key, value in given if key and _is(value, name)), None)

    def _may_read(self, one: Definition) -> bool:
        """With all that it uses, does it use what pictures are read by, or classes told?"""
        if not isinstance(one.node, ast.FunctionDef) or not callable(one.value):
            return False
        functions = self.used(one)
        named = set[str]().union(*(_read(each.node) for each in functions))
        outer = (value for each in functions for value in self.outer_names(each).values())
        return bool(named & (_READS | _CHOOSES)) or any(is_transform(value) for value in outer)


def is_transform(value: object) -> bool:
    """Is it a pipeline of torchvision's, with nothing random in it?"""
    kind = type(value)
    own = kind.__module__.startswith(_TRANSFORMS) and kind.__name__ in ("Compose", "Sequential")
    parts = list(value) if isinstance(value, nn.Sequential) else []
    stack = bool(parts) and all(type(one).__module__.startswith(_TRANSFORMS) for one in parts)
    return (own or stack) and "Random" not in repr(value)


def _role_in(node: ast.AST, name: str) -> Role | None:
    """What this one expression says that ``name`` is; nothing where it says nothing."""
    if isinstance(node, ast.Call):
        method = node.func if isinstance(node.func, ast.Attribute) else None
        if _is(node.func, name) or (method and _is(method.value, name) and method.attr in _OF_A_MODEL):
            return Role.MODEL
        moved = (
            method is not None and method.attr in ("to", "cuda") and any(_is(one, name) for one in node.args)
        )
        placed = (_is(one.value, name) for one in node.keywords if one.arg in ("device", "map_location"))
        return Role.DEVICE if moved or any(placed) else None
    if isinstance(node, ast.Subscript) and _is(node.value, name):
        return Role.LABELS if isinstance(node.slice, (ast.Name, ast.Call, ast.Attribute)) else None
    return None


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _needed(function: Any) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [one.name for one in parameters if one.default is one.empty and one.kind in named]


def _read(node: ast.AST) -> set[str]:
    """Every name and attribute inside."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return names | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def _bound(node: ast.AST) -> set[str]:
    """The names that are a function's own."""
    arguments = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    stored = {
        one.id for one in ast.walk(node) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
    }
    imported = {
        (one.asname or one.name).partition(".")[0] for one in ast.walk(node) if isinstance(one, ast.alias)
    }
    return arguments | stored | imported
