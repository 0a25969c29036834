"""The cells that were run in the IPython that this is: what of them a class or function needs, as a notebook.

Experiments around it are left out, and so is what a later cell defines anew. Imports no torch.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from .code import clean
from .packing import HandIn
from .python_text import DEFINITIONS, base_name, lines_of, names_bound, tree

_NAME = "notebook.ipynb"


@dataclass(frozen=True)
class Cells:
    """The texts of cells in the order in which they were run."""

    texts: Sequence[str]

    @cached_property
    def defined(self) -> dict[str, ast.stmt]:
        """The classes and functions at the top level, each as it was defined last."""
        return {one.name: one for body in self._bodies for one in body if isinstance(one, DEFINITIONS)}

    def hand_in(self, name: str) -> HandIn:
        """What ``name`` needs, as a notebook in which every line stands where it stood."""
        needed = self._needed(name)
        cells = [_cell(text, body, needed) for text, body in zip(self.texts, self._bodies)]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
        return HandIn(_NAME, False, {_NAME: json.dumps(notebook).encode()})

    @cached_property
    def _bodies(self) -> list[list[ast.stmt]]:
        return [_statements(text) for text in self.texts]

    def _needed(self, name: str) -> set[ast.stmt]:
        """The statements that set a name which it reads, or which one of them reads."""
        setting: dict[str, set[ast.stmt]] = {}
        for statement in (one for body in self._bodies for one in body):
            if not isinstance(statement, DEFINITIONS) or self.defined[statement.name] is statement:
                for target in _set_by(statement):
                    setting.setdefault(target, set()).add(statement)
        found: set[ast.stmt] = setting.get("*", set())
        waiting = [name, *(read for one in found for read in _read_by(one))]
        while waiting:
            new = setting.pop(waiting.pop(), set()) - found
            found |= new
            waiting += [read for one in new for read in _read_by(one)]
        return found


def cells_run() -> Cells:
    """What was run so far, the cell that asks included; nothing where this is no IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    return Cells(shell.history_manager.input_hist_raw[1:] if shell else [])  # the first is before any cell


def _statements(text: str) -> list[ast.stmt]:
    """None where it is no Python."""
    parsed = tree(clean(text)[0])
    return parsed.body if parsed else []


def _read_by(statement: ast.stmt) -> Iterator[str]:
    return (one.id for one in ast.walk(statement) if isinstance(one, ast.Name))


def _set_by(statement: ast.stmt) -> set[str]:
    """Names that it binds, or changes what they stand for; ``*`` where there is no telling."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, (ast.Attribute, ast.Subscript)):
        return names_bound(statement) | {base_name(call.func)}  # CONFIG.update(...)
    return names_bound(statement)


def _cell(text: str, body: Sequence[ast.stmt], needed: Set[ast.stmt]) -> dict[str, object]:
    """The cell with blank lines for what is not needed; an empty one where nothing of it is."""
    lines = [] if needed.isdisjoint(body) else text.split("\n")
    for node in (one for one in body if lines and one not in needed):
        own = lines_of(node)
        lines[own.start - 1 : own.stop - 1] = [""] * len(own)
    source = "\n".join(lines)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
