"""Child side: which file of a submission is a script that shows the stages."""

from __future__ import annotations

import ast
from bisect import bisect_right
from dataclasses import dataclass, field

from ...reading.code import marks
from ...reading.python_text import parse
from ..loading.execution import Loaded
from ..loading.program import Program, source_text

_CLAIMS = 6  # labels: a model's script may well mark image, class token, logits and probabilities
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)


@dataclass
class _Claims:
    """The labels that are marked in the script part of a module, and those that are in its classes.

    ``spread`` says how many assignments the script has come to where a label of its own stands.
    """

    beside: set[str] = field(default_factory=set)
    inside: set[str] = field(default_factory=set)
    spread: set[int] = field(default_factory=set)

    @property
    def are_of_a_script(self) -> bool:
        """Are the stages computed there? Marks that stand all in one place are a list of a model's stages."""
        return min(len(self.beside), len(self.spread)) > _CLAIMS and len(self.beside) > len(self.inside)


def find_script(loaded: Loaded) -> str | None:
    """The file of a script whose stages stand beside its model classes, by where the marks are."""
    files = loaded.program.statements
    return next((file for file in files if _claims(loaded.program, file).are_of_a_script), None)


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


def _claims(program: Program, file: str) -> _Claims:
    found = _Claims()
    for part in program.parts[file]:
        if part in program.broken:
            continue
        text = source_text(part)
        tree = parse(text)
        classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]
        apart = [_lines(one) for one in (*classes, *filter(_is_helper, tree.body))]
        assigned = sorted(one.lineno for one in ast.walk(tree) if isinstance(one, _ASSIGNMENTS))
        for mark in marks({part: text.encode()}):
            if any(mark.line in lines for lines in apart):
                found.inside.add(mark.label)
            else:
                found.beside.add(mark.label)
                found.spread.add(bisect_right(assigned, mark.line))
    return found


def _is_helper(node: ast.stmt) -> bool:
    """A function that is given something: what it computes, others ask it for."""
    return isinstance(node, ast.FunctionDef) and bool(node.args.args)


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, 1 + (node.end_lineno or 0))
