"""Lines of the student's code as the record has them. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping

from ...submissions.errors import Frame
from ...submissions.reading.python_text import decode
from ...submissions.reading.source import Source
from .result import CodeLine, Location

_AROUND = 2  # lines of code before and after the one to look at
_LONGEST = 200  # characters of a line that are shown


def location(frame: Frame, source: Source | None, part: tuple[int, int] | None = None) -> Location:
    """The line with its neighbours; ``part`` is the column and the width of what is meant in it."""
    lines = [] if source is None else excerpt(source.files, frame)
    column, width = part or (None, None)
    return Location(file=frame.file, line=frame.line, column=column, width=width, excerpt=lines)


def excerpt(files: Mapping[str, bytes], frame: Frame) -> list[CodeLine]:
    """The line and its neighbours; empty where the file is not text of the submission."""
    content = files.get(frame.file)
    if content is None:
        return []
    lines = decode(content).splitlines()
    first, last = max(1, frame.line - _AROUND), min(len(lines), frame.line + _AROUND)
    return [
        CodeLine(number=number, text=lines[number - 1][:_LONGEST], marked=number == frame.line)
        for number in range(first, last + 1)
    ]
