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
    """A line of code; ``marked`` is the one meant, ``shapes`` are those of the stages that are made in it."""

    number: int
    text: str
    marked: bool
    shapes: tuple[str, ...] = ()


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
        CodeLineView(one.number, text, one.marked, shapes.get((location.file, one.number), ()))
        for one, text in zip(location.excerpt, texts, strict=False)
    )
    return LocationView(one_line(location.file, NAME_LIMIT), location.line, lines)


def _code(text: str) -> str:
    return clean(text.rstrip("\r\n"), LINE_LIMIT).replace("\n", " ")
