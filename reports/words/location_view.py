"""A place in the student's code, as it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent
from types import MappingProxyType

from ...checks.record.result import Location
from ...checks.record.snapshot import Record
from .text import LINE_LIMIT, NAME_LIMIT, clean, one_line


@dataclass(frozen=True)
class CodeLineView:
    """A line of code; ``marked`` is the one meant, ``shapes`` are those of the stages that are made in it.

    Where a part of it is meant, ``span`` is where that begins in ``text``, and where it ends.
    """

    number: int
    text: str
    marked: bool
    shapes: tuple[str, ...] = ()
    span: tuple[int, int] | None = None

    @property
    def parts(self) -> tuple[str, str, str]:
        """What stands before the part that is meant, the part, and what stands behind it."""
        first, last = self.span or (0, 0)
        return self.text[:first], self.text[first:last], self.text[last:]


@dataclass(frozen=True)
class LocationView:
    """Where, and what stands there; ``lines`` may be empty."""

    file: str
    line: int
    lines: tuple[CodeLineView, ...]

    @property
    def short(self) -> str:
        """In the form that editors and terminals turn into a link."""
        return f"{self.file}:{self.line}"

    @property
    def marked(self) -> tuple[CodeLineView, ...]:
        return tuple(line for line in self.lines if line.marked)


Shapes = Mapping[tuple[str, int], tuple[str, ...]]  # texts by file and line
_NONE: Shapes = MappingProxyType({})


def shapes_at(result: Record) -> Shapes:
    """Where stages are made, and their shapes, as the page of a submission shows them."""
    labels: dict[tuple[str, int], dict[str, list[str]]] = {}
    for label, stage in result.stages.items():
        if stage.location is not None and stage.shape is not None:
            at = labels.setdefault((stage.location.file, stage.location.line), {})
            at.setdefault(" × ".join(map(str, stage.shape)), []).append(label)
    return {
        at: tuple(f"{', '.join(map(one_line, those))}  {shape}" for shape, those in found.items())
        for at, found in labels.items()
    }


def place(location: Location | None, shapes: Shapes = _NONE) -> LocationView | None:
    """``location`` with all its text cleaned, and without the indentation that all its lines share."""
    if location is None:
        return None
    texts = dedent("\n".join(_code(one.text) for one in location.excerpt)).split("\n")
    lines = tuple(
        CodeLineView(
            *(one.number, text, one.marked, shapes.get((location.file, one.number), ())),
            span=_span(location, len(_code(one.text)) - len(text), text) if one.marked else None,
        )
        for one, text in zip(location.excerpt, texts, strict=False)
    )
    return LocationView(one_line(location.file, NAME_LIMIT), location.line, lines)


def _span(location: Location, indent: int, text: str) -> tuple[int, int] | None:
    """Where the part that is meant stands in the line without its indentation; None where it is not shown."""
    if location.column is None or location.width is None:
        return None
    first = location.column - 1 - indent
    last = min(first + location.width, len(text))
    return (first, last) if 0 <= first < last else None


def _code(text: str) -> str:
    return clean(text.rstrip("\r\n"), LINE_LIMIT).replace("\n", " ")
