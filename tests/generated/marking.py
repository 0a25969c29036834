"""Marks in a program's text that say what an expression is, and how they are taken out of it.

``«S12|q @ k»`` marks what computes a stage (several, for a tuple of them), ``«#dim|768»`` a number that is a
size: a proof builds the program with small ones.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARK = re.compile(r"«([^|«»]*)\|((?:[^«»])*)»")


@dataclass(frozen=True)
class Span:
    """A marked expression: from a place to another, as (line from 1, column from 0)."""

    label: str
    start: tuple[int, int]
    end: tuple[int, int]

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(self.label.split(",")) if self.label.startswith("S") else ()


def plain(text: str) -> str:
    """The text without marks."""
    while (bare := _MARK.sub(r"\2", text)) != text:
        text = bare
    return text


def stages_in(line: str) -> tuple[str, ...]:
    """The stages that a line marks, in order."""
    return tuple(
        stage for label in re.findall(r"«([^|«»]*)\|", line) for stage in label.split(",") if label[0] == "S"
    )


def spans(text: str) -> tuple[Span, ...]:
    """Where the marks stand in the text without them."""
    found, opened = [], []
    line, column, index = 1, 0, 0
    while index < len(text):
        letter = text[index]
        if letter == "«":
            bar = text.index("|", index)
            opened.append((text[index + 1 : bar], (line, column)))
            index = bar
        elif letter == "»":
            label, start = opened.pop()
            found.append(Span(label, start, (line, column)))
        else:
            line, column = (line + 1, 0) if letter == "\n" else (line, column + 1)
        index += 1
    return tuple(found)


def marked_nodes(tree: ast.AST, text: str, where: tuple[Span, ...]) -> Iterator[tuple[Span, ast.expr]]:
    """For each span the largest expression in it."""
    lines = text.splitlines()
    nodes = [(*place_of(node, lines), node) for node in ast.walk(tree) if isinstance(node, ast.expr)]
    for span in where:
        for start, end, node in nodes:  # the outer come first
            if span.start <= start and end <= span.end:
                yield span, node
                break


def place_of(node: ast.expr | ast.stmt, lines: list[str]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where a node begins and ends, in characters: the tree counts bytes."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (
        (node.lineno, _characters(lines[node.lineno - 1], node.col_offset)),
        (node.end_lineno, _characters(lines[node.end_lineno - 1], node.end_col_offset)),
    )


def _characters(line: str, column: int) -> int:
    return column if line.isascii() else len(line.encode()[:column].decode())
