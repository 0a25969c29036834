"""Attributes and variables that stand for what is still to be written, or are not there for that."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import TypeGuard

from .code import texts
from .code_scopes import attributes, called, makes_object, name_of
from .python_text import names_read, nodes

_LACKING = re.compile(r"'(\w{1,64})' object has no attribute '(\w{1,64})'")
_CONTAINERS = ("ModuleList", "Sequential")  # that stand for others where they are empty
_FILLING = ("append", "extend", "insert", "add_module", "__setitem__")


def stand_ins(one: ast.ClassDef, to_do: Collection[int] = ()) -> Mapping[str, ast.Assign]:
    """Those of a class by name: each is set only where the object is made, and nothing is put into it.

    A layer that does nothing may be meant, but on lines whose comment says that there is more ``to_do``.
    """
    methods = [method for method in one.body if isinstance(method, ast.FunctionDef)]
    stored = Counter(name for each in methods for name in attributes(each, ast.Store))
    made = (each for method in methods if method.name == "__init__" for each in method.body)
    standing = (
        each for each in made if is_stand_in(each) and (not _does_nothing(each.value) or each.lineno in to_do)
    )
    found = {name: each for each in standing for name in attributes(each, ast.Store)}
    filled = {name for each in ast.walk(one) for name in _filled(each)}
    return {name: each for name, each in found.items() if stored[name] == 1 and name not in filled}


def variables_to_come(scope: ast.Module | ast.FunctionDef) -> Mapping[str, ast.Assign]:
    """Variables that are set to None and to nothing else, and called or computed with, whatever they are."""
    inside = [*ast.walk(scope)]
    stored = Counter(one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    used = {one.id for each in inside for one in _operands(each) if isinstance(one, ast.Name)}
    asked = {name for each in inside if isinstance(each, ast.Compare) for name in names_read(each)}
    empty = {name_of(one.targets[0]): one for one in scope.body if _is_nothing(one)}
    return {name: one for name, one in empty.items() if stored[name] == 1 and name in used - asked}


def layers_given(one: ast.ClassDef) -> dict[str, set[int]]:
    """Arguments without a default that it calls, or keeps and calls, by lines: layers, or what makes some."""
    made = [each for each in one.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    demanded = {name for each in made for name in _without_default(each.args)}
    kept = {name: name for name in demanded}
    for each in (each for method in made for each in ast.walk(method)):
        if isinstance(each, ast.Assign) and name_of(each.value) in demanded:
            kept |= {name_of(target): name_of(each.value) for target in each.targets}
    calls = [each for each in ast.walk(one) if isinstance(each, ast.Call)]
    found: dict[str, set[int]] = {}
    for each in calls:
        if argument := kept.get(name_of(each.func)):
            found.setdefault(argument, set()).add(each.lineno)
    return found


def _without_default(given: ast.arguments) -> list[str]:
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    keyed = [one.arg for one, default in zip(given.kwonlyargs, given.kw_defaults) if default is None]
    return [*names[: len(names) - len(given.defaults)], *keyed]


def _is_nothing(statement: ast.stmt) -> TypeGuard[ast.Assign]:
    """Is one variable set to None?"""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    return isinstance(statement.value, ast.Constant) and statement.value.value is None


def _operands(node: ast.AST) -> list[ast.expr]:
    """What a node calls or computes with."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return [node.func] if isinstance(node, ast.Call) else []


def is_stand_in(statement: ast.stmt) -> TypeGuard[ast.Assign]:
    """Is an attribute set to nothing, to no layers, or to one that does nothing?"""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
        return False
    return is_layer(statement.value) or _is_empty(statement.value)


def is_layer(value: ast.expr) -> bool:
    """Does it stand for one layer, and not for some number of them?"""
    is_nothing = isinstance(value, ast.Constant) and (value.value is None or value.value is Ellipsis)
    return is_nothing or _does_nothing(value)


def _does_nothing(value: ast.expr) -> bool:
    """Is it an identity, or a list of them?"""
    made = {called(one) for one in ast.walk(value) if isinstance(one, ast.Call)}
    return "Identity" in made and made <= {"Identity", "range", *_CONTAINERS}


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and called(value) in _CONTAINERS:
        return all(isinstance(one, ast.List) and not one.elts for one in value.args)
    return isinstance(value, ast.List) and not value.elts


def _filled(node: ast.AST) -> set[str]:
    """The attributes into which something is put."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
        return {*attributes(node.func.value, ast.Load)}
    if isinstance(node, ast.AugAssign):
        return {*attributes(node.target, ast.Store)}
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return {*attributes(node.value, ast.Load)}
    return set()


def lacks_attribute(files: Mapping[str, bytes], message: str) -> bool:
    """Does an AttributeError's message name what no line sets, and no layer of the class waits for?

    A layer that is made and never used, or not kept, is rather the one that was meant.
    """
    found = _LACKING.fullmatch(message)
    if found is None:
        return False
    every = [one for _, text in texts(files) for one in nodes(text)]
    classes = [one for one in every if isinstance(one, ast.ClassDef) and one.name == found[1]]
    is_told = any(found[2] in _names_told(one) for one in every)
    return bool(classes) and not is_told and not any(_unused(one) for one in classes)


def _names_told(node: ast.AST) -> set[object]:
    """Names that a node gives something, and texts, by which a name may be given."""
    stored = getattr(node, "attr", None) if isinstance(getattr(node, "ctx", None), ast.Store) else None
    return {stored, getattr(node, "name", None), getattr(node, "id", None), getattr(node, "value", None)}


def _unused(one: ast.ClassDef) -> set[str]:
    """The attributes that it never reads, and the classes of objects that it does not keep."""
    kept = {*attributes(one, ast.Store)} - {*attributes(one, ast.Load)}
    calls = (each.value for each in ast.walk(one) if isinstance(each, ast.Expr))
    return kept | {called(each) for each in calls if makes_object(each)}
