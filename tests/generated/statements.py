"""The lines of the statements that hold a mistake: a finger on any of them points at it."""

from __future__ import annotations

import ast

from .mutating import Mutated
from .wrong import Wrong


def statements(wrong: Wrong) -> tuple[int, ...]:
    """All lines, in the wrong program, of the statements that its slips stand in."""
    tree = ast.parse(wrong.source)
    touched = {line for slip in wrong.slips for line in _lines(slip, wrong.slips)}
    spans = [_own_lines(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    held = {line for span in spans if touched & {*span} for line in span}
    return tuple(sorted(held | touched))


def _lines(slip: Mutated, slips: tuple[Mutated, ...]) -> range:
    """Where it stands in the wrong program: the slips before it may have taken lines away, or added some."""
    before = (one for one in slips if one.start < slip.start)
    first = slip.start[0] + sum(one.new.count("\n") - one.old.count("\n") for one in before)
    return range(first, first + slip.new.count("\n") + 1)


def _own_lines(node: ast.stmt) -> range:
    """Of a statement that holds others its head alone: decorators are none of it."""
    assert node.end_lineno is not None
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if body else node.end_lineno
    return range(node.lineno, max(last, node.lineno) + 1)
