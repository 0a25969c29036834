"""Where the student's classes and functions are written, and which names each of them uses."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from types import ModuleType

import torch
from torch import nn
from torch.nn import functional

from ...errors import Frame
from ...reading.code import STUDENT_PREFIX
from ...reading.code_scopes import called
from ...reading.python_text import tree as python_tree
from .execution import Loaded
from .hoisting import top_level
from .keys import also_called, attributes_of, chain, in_scopes, inside, names_from_outside, names_in, text_of
from .older_files import by_age

Node = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class FunctionPair:
    """``make`` returns the parameters; ``run`` takes them and the image, by these names, beside sizes.

    Where there are several, ``make`` returns a tuple of them, such as of the parameters and the sizes.
    What computes a part ``reads`` some of them by these keys, and is given the dictionary that has them.
    """

    make: str
    run: str
    parameters: tuple[str, ...]
    image: str
    reads: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Definition:
    """A class or function at the top level of a student's file, or a method of such a class."""

    name: str
    module: str  # key in Loaded.modules
    file: str
    value: object
    node: Node
    others: tuple[str, ...] = ()  # files that define the same name, and are not the one that is meant
    is_method: bool = False
    pair: FunctionPair | None = None  # where it is two functions, which make a model together

    @property
    def frame(self) -> Frame:
        return Frame(self.file, self.node.lineno)

    @property
    def is_module(self) -> bool:
        return isinstance(self.value, type) and issubclass(self.value, nn.Module)

    @property
    def is_class(self) -> bool:
        return isinstance(self.value, type)

    @property
    def is_part(self) -> bool:
        """Is it a class that instances are made of? The members of an enumeration are there already."""
        return isinstance(self.value, type) and not issubclass(self.value, Enum)


class Definitions:
    """Everything that the submission defines at the top level of its files."""

    def __init__(self, loaded: Loaded) -> None:
        self.all: dict[str, Definition] = {}
        self.trees: list[ast.Module] = []
        self._assigned: dict[str, set[str]] = {}  # module-level name: names in what it is computed from
        self._literals: dict[str, object] = {}  # of module-level names
        for key in by_age(loaded.modules, loaded.importers):
            for file in loaded.program.parts[key]:
                self._read(file, key, loaded.modules[key])

    def _read(self, file: str, key: str, module: ModuleType) -> None:
        tree = python_tree("".join(linecache.getlines(STUDENT_PREFIX + file)))
        if tree is None:
            return  # a file that did not load defines nothing
        self.trees.append(tree)
        for node in top_level(tree):
            if isinstance(node, Node):
                value = vars(module).get(node.name)
                if getattr(value, "__module__", None) == module.__name__:
                    before = self.all.get(node.name)
                    others = (*before.others, before.file) if before and before.module != key else ()
                    self.all[node.name] = Definition(node.name, key, file, value, node, others)
            for name, value_node in _assignments(node):
                self._assigned.setdefault(name, set()).update(names_in(value_node))
                with suppress(ValueError):
                    self._literals[name] = ast.literal_eval(value_node)

    def methods(self) -> Iterator[Definition]:
        """Yield the methods of its models, and those of other classes that these inherit from."""
        models = [one.value for one in self.all.values() if isinstance(one.value, type) and one.is_module]
        lines = {each for one in models for each in one.__mro__}
        for of, node in _methods_of(one for one in self.all.values() if one.value in lines):
            value = getattr(of.value, node.name, None)
            yield Definition(node.name, of.module, of.file, value, node, is_method=True)

    def class_methods(self) -> Iterator[Definition]:
        """Yield the class methods of its models, as ``Model.from_config``."""
        for of, node in _methods_of(one for one in self.all.values() if one.is_module):
            if isinstance(inspect.getattr_static(of.value, node.name, None), classmethod):
                value = getattr(of.value, node.name)
                yield Definition(f"{of.name}.{node.name}", of.module, of.file, value, node)

    def reachable(self, of: Definition) -> list[Definition]:
        """List ``of`` and all that it uses, directly or not, the outermost first."""
        found, todo = {of.name: of}, [of.name]
        while todo:
            for used in sorted(self._used_in(found[todo.pop(0)].node) - found.keys()):
                found[used] = self.all[used]
                todo.append(used)
        return list(found.values())

    def _used_in(self, node: ast.AST) -> set[str]:
        """What is defined and used there, also by way of module-level names: of a table of classes, say."""
        return self._behind(names_from_outside(node)) & self.all.keys()

    def _behind(self, names: Iterable[str]) -> set[str]:
        """The names that module-level names are computed from, directly or not, and they themselves."""
        found: set[str] = set()
        todo = set(names)
        while todo:
            found |= todo
            todo = set().union(*(self._assigned.get(name, set()) for name in todo)) - found
        return found

    @cached_property
    def made_with(self) -> dict[str, set[str]]:
        """The models that are handed to a model where one of its class is made, by their names."""
        models = {name for name, one in self.all.items() if one.is_module}
        found: dict[str, set[str]] = {}
        for tree in self.trees:
            nodes = [*ast.walk(tree)]
            assigned = [node for node in nodes if isinstance(node, ast.Assign)]
            bound = {name: called(one) for node in assigned for name, one in _assignments(node)}
            for call in (one for one in nodes if isinstance(one, ast.Call) and called(one) in models):
                given = [*call.args, *(one.value for one in call.keywords)]
                names = {bound.get(one.id) if isinstance(one, ast.Name) else called(one) for one in given}
                found.setdefault(called(call), set()).update(name for name in names if name in models)
        return found

    def words_of(self, definition: Definition) -> set[str]:
        """The names, attributes and texts in its code and in that of modules and functions it uses."""
        code = [one.node for one in self.reachable(definition) if one.is_module or not one.is_class]
        nodes = [node for one in code for node in inside(one)]
        texts = {one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        return texts.union(*(names_in(one) for one in code))

    def module_names(self, definitions: Iterable[Definition]) -> set[str]:
        """Collect the module-level names that the definitions use, also by way of other such names."""
        names = set().union(*(names_from_outside(one.node) for one in definitions))
        return self._behind(names) & self._assigned.keys()

    def written_value(self, name: str, of: Definition) -> object:
        """Return what the student gives to an argument or key called ``name``, to ``of`` also by its place.

        Raises LookupError where no literal, and no name of one, is given.
        """
        for node in (node for tree in self.trees for node in ast.walk(tree)):
            for key, value in (*named_values(node), *_arguments(node, of)):
                if key == name:
                    with suppress(ValueError):
                        return self.literal(value)
        if name in self._literals:  # of a module that is handed on as a configuration, say
            return self._literals[name]
        raise LookupError(name)

    def names_given(self, definitions: Sequence[Definition], name: str) -> dict[str, set[str]]:
        """What an argument ``name`` of the first of them is called in each, by its name.

        One that is never called by its own name (a base class, what ``partial`` is given) is taken to use
        the same; in one that is always given something else, the same name means something else.
        """
        names = {one.name for one in definitions} & self.all.keys()  # an argument may be called as another is
        calls = [
            (one.name, call, self.all[call.func.id], own)
            for one in definitions
            for call, own in in_scopes(one.node)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names
        ]
        first, called = definitions[0].name, {to.name for _, _, to, _ in calls}
        found: dict[str, set[str]] = {
            one.name: {name} if one.name == first or one.name not in called else set() for one in definitions
        }
        before = 0
        while before < (now := sum(map(len, found.values()))):  # until no call hands it on to another name
            before = now
            for where, call, to, own in calls:
                given = _arguments(call, to)
                also = also_called(self.all[where].node, found[where]) if where in self.all else set()
                known = found[where] | attributes_of(found[where]) | also
                found[to.name] |= {key for key, value in given if chain(value, known, own - also) == ()}
        return found

    def literal(self, node: ast.expr) -> object:
        """What is written, here or where the name is bound. Raises ValueError where it is no literal."""
        if isinstance(node, ast.Name) and node.id in self._literals:
            return self._literals[node.id]
        return ast.literal_eval(node)


def _assignments(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _bound_to(target, node.value)
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value


def _bound_to(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Each name with what it is bound to: of several at once its own, where that is written."""
    sequences = (ast.Tuple, ast.List)
    if isinstance(target, sequences) and isinstance(value, sequences) and len(target.elts) == len(value.elts):
        for pair in zip(target.elts, value.elts):
            yield from _bound_to(*pair)
    else:
        yield from ((one.id, value) for one in ast.walk(target) if isinstance(one, ast.Name))


def named_values(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What is given under a name there: to an argument, an option, a key, or in the body of a class."""
    if isinstance(node, ast.Call) and not _is_torchs(node.func):
        yield from ((one.arg, one.value) for one in node.keywords if one.arg)
        option = text_of(node.args[:1])
        if option.startswith("--"):
            yield from (
                (option[2:].replace("-", "_"), one.value) for one in node.keywords if one.arg == "default"
            )
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) == 3:
            yield text_of(node.args[1:2]), node.args[2]
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    if isinstance(node, ast.ClassDef):
        yield from (pair for inside in node.body for pair in _assignments(inside))


def _is_torchs(function: ast.expr) -> bool:
    """Is that a function of torch's, whose ``dim`` is an axis?"""
    named = function.attr if isinstance(function, ast.Attribute) else ""
    return any(hasattr(one, named) for one in (torch, torch.Tensor, nn, functional))


def _arguments(node: ast.AST, of: Definition) -> Iterator[tuple[str, ast.expr]]:
    """What a call of ``of`` gives, under the names that the constructor has for it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == of.name:
        yield from zip(_places_of(of.node), node.args)
        yield from ((one.arg, one.value) for one in node.keywords if one.arg)


def _places_of(node: Node) -> list[str]:
    inside = constructor(node)
    if inside is None:
        return []
    names = [argument.arg for argument in (*inside.args.posonlyargs, *inside.args.args)]
    return names if inside is node else names[1:]


def constructor(node: Node) -> ast.FunctionDef | None:
    """What is called: a function itself, a class by its ``__init__``, if it has one of its own."""
    inside = (one for one in ast.walk(node) if isinstance(one, ast.FunctionDef))
    return next((one for one in inside if one is node or one.name == "__init__"), None)


def _methods_of(classes: Iterable[Definition]) -> Iterator[tuple[Definition, ast.FunctionDef]]:
    for of in classes:
        yield from ((of, one) for one in of.node.body if isinstance(one, ast.FunctionDef))
