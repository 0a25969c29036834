"""What code reads of a variable: its keys and attributes, under the names that it has in each function."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator

from ...reading.code_scopes import held
from ...reading.python_text import names_unbound

Keys = tuple[str, ...]
_OF_DICT = frozenset(dir(dict))


def keys_read(read: Iterable[tuple[ast.AST, set[str]]]) -> dict[Keys, bool]:
    """List the keys or attributes that each node reads from variables of these names (also ``self.<name>``).

    ``config["vit"]["dim"]``, ``config.vit.dim`` and ``config.get("dim", 8)`` are all understood, and what
    ``self.c = config`` makes of it, but not ``self.heads = nn.ModuleList()``. The value says whether the code
    can do without the key.
    """
    found: dict[Keys, bool] = {}
    known = ((outer, names | _kept_as(outer, names), also_called(outer, names)) for outer, names in read)
    every = ((inner, names, also) for outer, names, also in known for inner in in_scopes(outer))
    for (node, own), names, also in every:
        keys, optional = _read_chain(node, names | also, own - also)
        if keys:
            found[keys] = found.get(keys, True) and optional
    return {
        keys: optional for keys, optional in found.items() if not any(_longer(one, keys) for one in found)
    }


def _kept_as(outer: ast.AST, names: set[str]) -> set[str]:
    """The attributes of ``self`` that one of ``names`` is stored under as it is, or may be elsewhere."""
    stored = [
        (f"self.{target.attr}", _is_one_of(node.value, names))
        for node in inside(outer)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and chain(target.value, {"self"}, frozenset()) == ()
    ]
    as_it_is = {attribute for attribute, is_kept in stored if is_kept}
    return (attributes_of(names) - {attribute for attribute, _ in stored}) | as_it_is


def _is_one_of(value: ast.expr, names: set[str]) -> bool:
    """Is it one of these, or what that has under some key, and that itself where it has not?"""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "get":
        return len(value.args) > 1 and all(
            _is_one_of(one, names) for one in (value.func.value, value.args[1])
        )
    return isinstance(value, ast.Name) and value.id in names


def also_called(outer: ast.AST, names: set[str]) -> set[str]:
    """What variables are bound to one of ``names`` as it is, and to nothing else: ``s = settings``."""
    bound: dict[str, set[bool]] = {}
    for node in inside(outer):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name):
                is_it = isinstance(node, ast.Assign) and chain(node.value, names, frozenset()) == ()
                bound.setdefault(target.id, set()).add(is_it)
    return {name for name, found in bound.items() if found == {True}}


def attributes_of(names: Iterable[str]) -> set[str]:
    """As ``chain`` knows what ``self`` holds under these names."""
    return {f"self.{name}" for name in names}


def compared_with(node: ast.AST, name: str) -> list[str]:
    """List the texts that a variable or key ``name`` is compared with in ``node``: ``pool == "cls"``.

    To look it up in a table that is written out is to compare it with each key.
    """
    sides = [one for each in inside(node) for one in _compared(each)]
    texts = (one for some in sides if any(_is_called(one, name) for one in some) for one in some)
    constants = (part for one in texts for part in inside(one) if isinstance(part, ast.Constant))
    known = (one.value for one in constants if isinstance(one.value, str) and one.value != name)
    return list(dict.fromkeys(known))


def _compared(node: ast.AST) -> Iterator[list[ast.expr]]:
    if isinstance(node, ast.Compare):
        yield [node.left, *node.comparators]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict):
        yield [node.slice, *(one for one in node.value.keys if one is not None)]


def _is_called(node: ast.expr, name: str) -> bool:
    """Is it a variable, an attribute or a key of that name?"""
    if isinstance(node, ast.Subscript):
        return text_of([node.slice]) == name
    return name in (getattr(node, "id", ""), getattr(node, "attr", ""))


def passed_on(node: ast.AST, name: str) -> Iterator[tuple[ast.expr, int, set[str]]]:
    """Yield what is called with ``**name`` inside ``node``, how much it is given by place, and what by name.

    ``**{**defaults, **name}`` gives it as well.
    """
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and any(
            one.arg is None and _gives(one.value, name) for one in call.keywords
        ):
            yield call.func, len(call.args), {one.arg for one in call.keywords if one.arg}


def _gives(value: ast.expr, name: str) -> bool:
    if isinstance(value, ast.Dict):
        return any(key is None and _gives(one, name) for key, one in zip(value.keys, value.values))
    return isinstance(value, ast.Name) and value.id == name


def unpacked(node: ast.AST, name: str) -> list[str]:
    """List the names that ``*name`` is unpacked into inside ``node``: ``a, b = args``."""
    for inside in ast.walk(node):
        if isinstance(inside, ast.Assign) and isinstance(inside.value, ast.Name) and inside.value.id == name:
            target = inside.targets[0]
            if isinstance(target, ast.Tuple):
                return [inner.id for inner in target.elts if isinstance(inner, ast.Name)]
    return []


@functools.cache  # the same classes are asked about many times over
def inside(node: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(node))


@functools.cache
def in_scopes(node: ast.AST) -> tuple[tuple[ast.AST, frozenset[str]], ...]:
    """All nodes inside, each with the names that the function around it binds itself."""
    found: list[tuple[ast.AST, frozenset[str]]] = []
    todo: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while todo:
        one, own = todo.pop()
        found.append((one, own))
        if isinstance(one, ast.FunctionDef):
            names = [inner for inner in inside(one) if isinstance(inner, ast.Name)]
            bound = {inner.id for inner in names if isinstance(inner.ctx, ast.Store)}
            own = frozenset(bound - {inner.arg for inner in inside(one) if isinstance(inner, ast.arg)})
        todo += [(inner, own) for inner in ast.iter_child_nodes(one)]
    return tuple(found)


@functools.cache
def names_in(node: ast.AST) -> frozenset[str]:
    names = frozenset(one.id for one in inside(node) if isinstance(one, ast.Name))
    return names | {one.attr for one in inside(node) if isinstance(one, ast.Attribute)}


@functools.cache
def names_from_outside(node: ast.AST) -> frozenset[str]:
    """The names that a class or function reads and does not bind itself, and attributes of others."""
    attributes = (one for one in inside(node) if isinstance(one, ast.Attribute))
    of_others = (one.attr for one in attributes if not held(one))
    return frozenset(names_unbound(node).union(of_others))


def _read_chain(node: ast.AST, names: set[str], own: frozenset[str]) -> tuple[Keys, bool]:
    """Return the keys by which ``node`` reads from one of ``names``, and whether it names a fallback."""
    if isinstance(node, ast.Call):
        method = node.func
        if isinstance(method, ast.Attribute) and method.attr in ("get", "pop") and text_of(node.args[:1]):
            before = chain(method.value, names, own)
            return ((*before, text_of(node.args[:1])), True) if before is not None else ((), True)
    keys = chain(node, names, own) or ()
    return keys, False


def chain(node: ast.AST, names: set[str], own: frozenset[str]) -> Keys | None:
    """Return the keys between one of ``names`` and ``node``; None where ``node`` reads something else.

    What ``self`` holds has names such as ``self.config``. A variable that is a function's ``own`` is none of
    them.
    """
    if isinstance(node, ast.Name) and node.id in names - own:
        return ()
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name) and f"{node.value.id}.{node.attr}" in names:
            return ()
        before, key = chain(node.value, names, own), "" if node.attr in _OF_DICT else node.attr
    elif isinstance(node, ast.Subscript) and text_of([node.slice]):
        before, key = chain(node.value, names, own), text_of([node.slice])
    else:
        return None
    return (*before, key) if before is not None and key else None


def text_of(nodes: list[ast.expr]) -> str:
    """Return the string that the only one of ``nodes`` is, or nothing."""
    values = [one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return values[0] if values else ""


def _longer(one: Keys, keys: Keys) -> bool:
    return len(one) > len(keys) and one[: len(keys)] == keys
