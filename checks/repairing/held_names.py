"""Which changes make sense by what names hold there: a tensor for a tensor, a layer for a layer."""

from __future__ import annotations

import ast
from bisect import bisect
from collections.abc import Iterable, Mapping

from ...submissions.questions.changes import HeldAt
from ...submissions.reading.edits.edit import Edit
from ...submissions.reading.python_text import tree

_ANOTHER_SHAPE = 4.0  # the price of a tensor of another shape, or a layer of another class
_CALLED = ("layer", "function")


class HeldNames:
    """Of a program whose lines have run once."""

    def __init__(self, told: Iterable[HeldAt], texts: Mapping[str, str]) -> None:
        self._held = {(one.file, one.line): one.names for one in told}
        self._functions = {file: _functions(text) for file, text in texts.items()}
        self._lines: dict[str, list[int]] = {}
        for file, line in sorted(self._held):
            self._lines.setdefault(file, []).append(line)

    def price(self, edit: Edit) -> float | None:
        """How unlikely a change is by what its names hold; None where it makes no sense.

        Of lines that have not run nothing is known, and nothing is unlikely.
        """
        names = self._at(edit.file, edit.line)
        if not edit.name or not names:
            return 0.0
        new, old = names.get(edit.name), names.get(edit.instead)
        if new is None:  # it is bound only later
            return None
        if edit.role == "called":
            return 0.0 if new.startswith(_CALLED) else None
        if edit.role == "added":
            price = _added(new, old)
            return price and (0.0 if edit.telling else price)
        if old is None:
            return 0.0
        if new.split()[:1] != old.split()[:1]:
            return None
        return 0.0 if edit.telling else _ANOTHER_SHAPE * (new != old)

    def _at(self, file: str, line: int) -> Mapping[str, str]:
        """What was held on the last line of the same function before it that has run."""
        lines = self._lines.get(file, [])
        within = [one for one in self._functions.get(file, []) if line in one]
        place = bisect(lines, line)
        if not place or not within or lines[place - 1] not in min(within, key=len):
            return {}
        return self._held[file, lines[place - 1]]


def _added(new: str, old: str | None) -> float | None:
    """Of tensors whose shapes go together."""
    if not new.startswith("tensor"):
        return None
    if old is None or not old.startswith("tensor"):
        return _ANOTHER_SHAPE * (old is not None)
    pairs = zip(reversed(new.split()[1:]), reversed(old.split()[1:]))
    fits = all(one == other or "1" in (one, other) for one, other in pairs)
    return _ANOTHER_SHAPE * (new != old) if fits else None


def _functions(text: str) -> list[range]:
    """The lines of each function, and of each method."""
    parsed = tree(text)
    found = ast.walk(parsed) if parsed is not None else ()
    return [
        range(one.lineno, (one.end_lineno or one.lineno) + 1)
        for one in found
        if isinstance(one, ast.FunctionDef)
    ]
