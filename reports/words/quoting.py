"""What a student wrote, in the lines of a terminal or a log: none begins with it, also where it is folded.

What runs a job takes what stands at the beginning of a line for a command (GitHub "::", even behind blanks),
and who reads it takes that for words of ours.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from .location_view import LocationView
from .text import clean

BAR = "│ "
_PLAIN = re.compile(r"\w[\w./\[\]-]{0,59}(:\d+)?")  # a word, as files are called: no command and no sentence
_FAULT_LIMIT = 20_000  # characters: of a chain of several exceptions


class Quoted:
    """``text`` behind a bar in every row; where ``begun`` by words of ours, in every row but the first."""

    def __init__(self, text: Text, *, begun: bool = False) -> None:
        self._text, self._begun = text, begun

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Fold it with room for the bar."""
        narrower = options.update(width=max(1, options.max_width - len(BAR)))
        for number, row in enumerate(console.render_lines(self._text, narrower, pad=False)):
            if number or not self._begun:
                yield Segment(BAR)
            yield from row
            yield Segment.line()


def named(name: str, text: Text) -> RenderableType:
    """``text``, which begins with ``name``: as it stands if that is a plain word, and else quoted."""
    return text if _PLAIN.fullmatch(name) else Quoted(text)


def named_line(name: str, about: str = "") -> str:
    """A line of both: as they stand if ``name`` is a plain word, and else quoted."""
    return f"{name}{about}" if _PLAIN.fullmatch(name) else quoted(f"{name}{about}")


def code_lines(where: LocationView | None) -> Iterator[str]:
    """The place, and the lines that are meant."""
    if where is not None:
        yield named_line(where.short)
        yield from (f"{line.number:>5} │ {line.text}" for line in where.marked)


def quoted(text: str) -> str:
    """``text`` with a bar before each of its lines."""
    return BAR + begun(text)


def begun(text: str) -> str:
    """The same of a text whose first line begins with words of ours."""
    return text.replace("\n", f"\n{BAR}")


def fault() -> str:
    """The traceback of the exception that is being handled, which may hold what a student wrote."""
    return quoted(clean(traceback.format_exc().strip(), _FAULT_LIMIT))
