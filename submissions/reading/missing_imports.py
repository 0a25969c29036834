"""Names that everybody imports, and that a file uses without importing them.

Its other code can be looked at all the same once they are lent to it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..errors import Frame
from .code import cell_number, clean, module_file, texts
from .python_text import decode, nodes

# what each name stands for wherever deep learning is taught
USUAL = {
    "torch": "import torch",
    "nn": "import torch.nn as nn",
    "F": "import torch.nn.functional as F",
    "Tensor": "from torch import Tensor",
    "math": "import math",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "einops": "import einops",
    "rearrange": "from einops import rearrange",
    "repeat": "from einops import repeat",
    "partial": "from functools import partial",
    "dataclass": "from dataclasses import dataclass",
    "Optional": "from typing import Optional",
    "Tuple": "from typing import Tuple",
    "List": "from typing import List",
}


class MissingImport(NamedTuple):
    """Where the name is read first, and the line that is missing."""

    frame: Frame
    name: str
    line: str


def missing_imports(files: Mapping[str, bytes]) -> list[MissingImport]:
    """Return what is missing, each once in every module: a file, or all cells of a notebook."""
    modules: dict[str, dict[str, list[ast.AST]]] = {}
    for file in sorted(files, key=cell_number):
        if module := module_file(file):
            text = clean(decode(files[file]))[0]
            modules.setdefault(module, {})[file] = list(nodes(text))
    return [one for parts in modules.values() for one in _missing(parts)]


def _missing(parts: Mapping[str, Sequence[ast.AST]]) -> Iterator[MissingImport]:
    missing = unbound(node for found in parts.values() for node in found)
    for file, found in parts.items():
        for name, line in sorted(reads(found).items(), key=lambda one: one[1]):
            if name in missing:
                missing.remove(name)
                yield MissingImport(Frame(file, line), name, USUAL[name])


def unbound(found: Iterable[ast.AST]) -> set[str]:
    """Return those of the usual names that are read among these nodes of a module, and bound nowhere in it.

    There is none beside ``from x import *``, which may bind anything.
    """
    there = list(found)
    bound = names_bound_in(there)
    return set() if "*" in bound else USUAL.keys() & reads(there).keys() - bound


def calls_what_is_nowhere(files: Mapping[str, bytes]) -> bool:
    """Is a name called that no file binds, and Python does not know?"""
    every = [node for _, text in texts(files) for node in nodes(text)]
    bound = names_bound_in(every)
    called = {one.func.id for one in every if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
    return "*" not in bound and not called <= bound


def reads(found: Iterable[ast.AST]) -> dict[str, int]:
    """Return the names that are read, and the first line that does."""
    lines: dict[str, int] = {}
    for node in found:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
    return lines


def names_bound_in(found: Iterable[ast.AST]) -> set[str]:
    """Return the names that these nodes bind, or Python does; beside ``from x import *`` the star, too."""
    return {*vars(builtins)}.union(*map(bound_in, found))


def bound_in(node: ast.AST) -> list[str]:
    """Return the names that this node binds by itself; of ``from x import *`` the star."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [(one.asname or one.name).partition(".")[0] for one in names]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return [name]
    return []
