"""Where the student's files lie in the repository of a course."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..words.location_view import LocationView

_CELL = re.compile(r"\[\d+\]$")


@dataclass(frozen=True)
class Spot:
    """A file by its path in the repository; no line in a notebook, whose cells are counted each by itself."""

    path: str
    line: int | None


@dataclass(frozen=True)
class Repository:
    """``folder`` is the path, from the top of the repository, that the files of a result are relative to."""

    folder: str = "."

    def spot(self, place: LocationView) -> Spot:
        """Return where ``place`` is."""
        file = _CELL.sub("", place.file)
        path = PurePosixPath(self.folder, file).as_posix()
        return Spot(path, place.line if file == place.file else None)
