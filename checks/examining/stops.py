"""Where a debugger would stop for the breakpoint marks, and whether a variable seen there is a stage."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from torch import Tensor

from ...submissions.reading.code import Mark, clean
from ...submissions.reading.python_text import decode, nodes
from ..locating.comparing import equal
from ..locating.search.places import Places


def statements(files: Mapping[str, bytes], found: Sequence[Mark]) -> list[tuple[str, int]]:
    """For each mark the first line of the statement that it stands on or before; 0 where there is none.

    A mark at the end of a block belongs to the last statement there.
    """
    return [(mark.file, lines.start) for mark, lines in zip(found, lines_below(files, found))]


def lines_below(files: Mapping[str, bytes], found: Sequence[Mark]) -> list[range]:
    """All lines of those statements."""
    texts = {file: decode(content) for file, content in files.items() if _is_code(file, found)}
    rows = {file: _first_lines(text) for file, text in texts.items()}
    firsts = [_statement(rows[mark.file], mark.line, _indent(texts[mark.file], mark.line)) for mark in found]
    return [
        range(first, 1 + max((last for begin, last, _ in rows[mark.file] if begin == first), default=first))
        for mark, first in zip(found, firsts)
    ]


def beside(files: Mapping[str, bytes], found: Sequence[Mark]) -> list[range]:
    """For each mark all lines of the statement that it stands on, else of those before and after it."""
    texts = {file: decode(content) for file, content in files.items() if _is_code(file, found)}
    rows = {file: _first_lines(text) for file, text in texts.items()}
    return [_lines_beside(rows[mark.file], mark.line) for mark in found]


def _lines_beside(rows: Sequence[tuple[int, int, int]], line: int) -> range:
    on = [row for row in rows if row[0] <= line <= row[1]][-1:]
    around = [*[row for row in rows if row[0] < line][-1:], *[row for row in rows if row[0] > line][:1]]
    near = on or around or [(0, -1, 0)]
    return range(near[0][0], near[-1][1] + 1)


def _is_code(file: str, found: Sequence[Mark]) -> bool:
    return any(mark.file == file for mark in found)


def _indent(text: str, line: int) -> int:
    written = text.split("\n")[line - 1]
    return len(written) - len(written.lstrip())


def _first_lines(text: str) -> list[tuple[int, int, int]]:
    """First and last line and indentation of every simple statement; of a compound one that of its head."""
    rows = []
    for node in nodes(clean(text)[0]):
        if isinstance(node, ast.stmt) and _runs(node):
            last = node.lineno if hasattr(node, "body") else node.end_lineno
            rows.append((node.lineno, last or node.lineno, node.col_offset))
    return sorted(rows)


def _runs(node: ast.stmt) -> bool:
    """Can execution stop there? It never does at docstrings, declarations and bare annotations."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    bare = isinstance(node, ast.AnnAssign) and node.value is None
    return not bare and not isinstance(node, (ast.Global, ast.Nonlocal))


def _statement(rows: Sequence[tuple[int, int, int]], line: int, indent: int) -> int:
    on = [first for first, last, _ in rows if first <= line <= last]
    before = [first for first, _, _ in rows if first < line]
    after = [(first, column) for first, _, column in rows if first > line]
    if on:
        return max(on)
    first, column = min(after, default=(0, -1))
    return max(before, default=0) if column < indent else first


def same_in_some_layout(variable: Tensor, tensor: Tensor) -> bool:
    """The same numbers, with axes in another order or merged: heads first or side by side, say."""
    if variable.numel() != tensor.numel() or not variable.numel():
        return False
    if abs(float(variable.sum() - tensor.sum())) > 1e-6 * float(tensor.abs().sum()):  # a quick no
        return False
    if variable.shape == tensor.shape:
        return equal(variable, tensor)
    return Places({0: variable.contiguous().flatten().numpy()}).find(tensor) is not None
