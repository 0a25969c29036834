"""The rule that every stage has a breakpoint mark where a local variable really holds that stage."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property

from torch import Tensor

from ..reference.stages import LABEL_SETS, stage
from ..submissions.code import Mark, clean, decode, marks
from ..submissions.trace import Trace
from .examination import Examination
from .locating.places import ROUNDING, Places
from .replay import Seen
from .verdicts import CheckFailed, NotApplicable, NotReached


class Breakpoints:
    """The marks of a submission and what could be seen at them in one pass."""

    def __init__(self, examination: Examination) -> None:
        self._examination = examination
        self.marks = marks(examination.source.files)

    @cached_property
    def trace(self) -> Trace:
        """One pass of the first example, looked at where the marks stand."""
        draw = self._examination.first_draw
        # without any mark, one that is never reached still has variables looked at
        stops = statements(self._examination.source.files, self.marks) or [("", 0)]
        return self._examination.session.trace(draw.sizes, draw.seed, draw.image, marks=stops)

    def check(self, label: str) -> None:
        """Some mark with this label stands where a local variable holds the stage.

        The assignment's label sets decide which stages the label may mean.
        """
        keys = self._meanings(label)
        mine = [number for number, mark in enumerate(self.marks) if mark.label == label]
        tensors = [one for key in keys for one in self._examination.examples[0].all(key)]
        if keys == ["image"]:
            return self._check_image(mine)
        if not tensors and self._examination.absent.issuperset(keys):
            raise NotApplicable("this architecture has no such stage")
        if not tensors:
            raise NotReached("the stage was not found in the forward pass")
        if not any(_holds(self.trace.tensor(one.reference), tensors) for one in self.trace.sights):
            raise NotApplicable("no local variable of this code ever holds the stage")
        if not mine:
            raise CheckFailed(f"there is no comment «# BREAKPOINT {label}»")
        seen = [one for one in self.trace.sights if one.mark in mine]
        if not any(_holds(self.trace.tensor(one.reference), tensors) for one in seen):
            raise CheckFailed(self._misplaced(label, mine, sorted({one.name for one in seen})))
        return None

    def _check_image(self, mine: Sequence[int]) -> None:
        """The image is made outside of a model, in code that grading does not run, but inside of a script."""
        if not mine:
            raise CheckFailed("there is no comment «# BREAKPOINT S01»")
        image = self.trace.tensor(self.trace.records[0].reference)
        seen = [one for one in self.trace.sights if one.mark in mine]
        if self._examination.session.is_script and not any(
            _same_in_some_layout(self.trace.tensor(one.reference), image) for one in seen
        ):
            raise CheckFailed(self._misplaced("S01", mine, sorted({one.name for one in seen})))

    def _meanings(self, label: str) -> list[str]:
        sets = [LABEL_SETS[name] for name in self._examination.assignment.labels]
        return list(dict.fromkeys(key for labels in sets for key in labels.get(label, ())))

    def _misplaced(self, label: str, mine: Sequence[int], names: Sequence[str]) -> str:
        where = ", ".join(f"{self.marks[number].file}:{self.marks[number].line}" for number in mine)
        title = stage(self._meanings(label)[0]).title
        if not names:
            return f"the mark {label} at {where} is never reached by a forward pass"
        return (
            f"at the mark {label} ({where}) no local variable holds the {title}; there are {', '.join(names)}"
        )


def _holds(variable: Tensor, tensors: Sequence[Seen]) -> bool:
    return any(_same_in_some_layout(variable, one.student) for one in tensors)


def _same_in_some_layout(variable: Tensor, tensor: Tensor) -> bool:
    """The same numbers, with axes in another order or merged: heads first or side by side, say."""
    if variable.numel() != tensor.numel() or not variable.numel():
        return False
    if abs(float(variable.sum() - tensor.sum())) > 1e-6 * float(tensor.abs().sum()):  # a quick no
        return False
    if variable.shape == tensor.shape:
        return bool((variable - tensor).abs().max() <= ROUNDING * float(tensor.abs().max()))
    return Places({0: variable.contiguous().flatten().numpy()}).find(tensor) is not None


def statements(files: Mapping[str, bytes], found: Sequence[Mark]) -> list[tuple[str, int]]:
    """For each mark the first line of the statement that it stands on or before; 0 where there is none.

    A mark at the end of a block belongs to the last statement there.
    """
    texts = {file: decode(content) for file, content in files.items() if _is_code(file, found)}
    rows = {file: _first_lines(text) for file, text in texts.items()}
    return [
        (mark.file, _statement(rows[mark.file], mark.line, _indent(texts[mark.file], mark.line)))
        for mark in found
    ]


def _is_code(file: str, found: Sequence[Mark]) -> bool:
    return any(mark.file == file for mark in found)


def _indent(text: str, line: int) -> int:
    written = text.split("\n")[line - 1]
    return len(written) - len(written.lstrip())


def _first_lines(text: str) -> list[tuple[int, int, int]]:
    """First and last line and indentation of every simple statement; of a compound one that of its head."""
    try:
        tree = ast.parse(clean(text)[0])
    except SyntaxError:
        return []
    rows = []
    for node in ast.walk(tree):
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
