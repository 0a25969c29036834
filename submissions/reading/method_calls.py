"""Which methods of a student's classes call which, as far as names tell."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Set

from .code import parsed

_MAKE, _RUN = ("__init__",), ("forward", "__call__")


def read_apart(files: Mapping[str, bytes]) -> Set[str]:
    """The names of attributes that methods read which neither a constructor nor a forward pass calls.

    Such as a mask token that only pretraining knows. What a forward pass may read, too, is not among them.
    """
    methods: dict[str, set[str]] = {}
    for _, tree in parsed(files):
        for of in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            for one in (node for node in of.body if isinstance(node, ast.FunctionDef)):
                methods.setdefault(one.name, set()).update(attributes_read(one))
    used = reached(methods, (*_MAKE, *_RUN))
    apart = (methods[name] for name in methods.keys() - used)
    return set().union(*apart) - set().union(*(methods[name] for name in reached(methods, _RUN)))


def attributes_read(method: ast.AST) -> set[str]:
    """The names of all attributes in it, of whatever object."""
    return {node.attr for node in ast.walk(method) if isinstance(node, ast.Attribute)}


def reached(methods: Mapping[str, Set[str]], first: Iterable[str]) -> set[str]:
    """Those of the methods that the first use, directly or not, and they themselves.

    ``methods`` are by name, each with the names that stand in it.
    """
    found: set[str] = set()
    todo = set(first) & methods.keys()
    while todo:
        found |= todo
        todo = set().union(*(methods[name] for name in todo)) & methods.keys() - found
    return found
