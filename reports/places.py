"""A place in the student's code, as it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

from ..checks.result import Location
from .text import LINE_LIMIT, NAME_LIMIT, clean, one_line


@dataclass(frozen=True)
class Line:
    """A line of code; ``marked`` is the one meant."""

    number: int
    text: str
    marked: bool


@dataclass(frozen=True)
class Place:
    """Where, and what stands there; ``lines`` may be empty."""

    file: str
    line: int
    lines: tuple[Line, ...]

    @property
    def short(self) -> str:
        """In the form that editors and terminals turn into a link."""
        return f"{self.file}:{self.line}"

    @property
    def marked(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.marked)


def place(location: Location | None) -> Place | None:
    """``location`` with all its text cleaned, and without the indentation that all its lines share."""
    if location is None:
        return None
    texts = dedent("\n".join(_code(one.text) for one in location.excerpt)).split("\n")
    lines = tuple(
        Line(one.number, text, one.marked) for one, text in zip(location.excerpt, texts, strict=False)
    )
    return Place(one_line(location.file, NAME_LIMIT), location.line, lines)


def _code(text: str) -> str:
    return clean(text.rstrip("\r\n"), LINE_LIMIT).replace("\n", " ")
