"""Child side: which file of a submission is a script that shows the stages."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .code import marks
from .loading import Loaded
from .program import Program, source_text

_CLAIMS = 6  # labels: a model's script may well mark image, class token, logits and probabilities


def find_script(loaded: Loaded) -> str | None:
    """The file of a script whose stages stand beside its model classes, by where the marks are."""
    for file in loaded.program.statements:
        beside, inside = _claims(loaded.program, file)
        if len(beside) > max(_CLAIMS, len(inside)):
            return file
    return None


def likeliest(loaded: Loaded) -> str | None:
    """The file that would be run: one that no other imports, with the most statements of its own."""
    counts = {
        file: sum(not (one.is_definition or one.is_import) for one in body)
        for file, body in loaded.program.statements.items()
    }
    return max(counts, key=lambda file: counts[file]) if any(counts.values()) else None


def has_classes(loaded: Loaded) -> bool:
    """Does the submission define any class, which may have been meant for the model?"""
    return any(
        isinstance(one.node, ast.ClassDef) for body in loaded.program.statements.values() for one in body
    )


def _claims(program: Program, file: str) -> tuple[set[str], set[str]]:
    """The labels that are marked in the script part of a module, and those that are in its classes."""
    beside: set[str] = set()
    inside: set[str] = set()
    for part in program.parts[file]:
        if part in program.broken:
            continue
        text = source_text(part)
        tree = ast.parse(text)
        classes = [
            (one.lineno, one.end_lineno or 0) for one in ast.walk(tree) if isinstance(one, ast.ClassDef)
        ]
        helpers = [(one.lineno, one.end_lineno or 0) for one in tree.body if _is_helper(one)]
        for mark in marks({part: text.encode()}):
            if _within(mark.line, [*classes, *helpers]):
                inside.add(mark.label)
            else:
                beside.add(mark.label)
    return beside, inside


def _is_helper(node: ast.stmt) -> bool:
    """A function that is given something: what it computes, others ask it for."""
    return isinstance(node, ast.FunctionDef) and bool(node.args.args)


def _within(line: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(first <= line <= last for first, last in spans)
