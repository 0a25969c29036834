"""What the code calls and no call is possible of, such as a number: it is told where ``self`` is given it."""

from __future__ import annotations

from collections.abc import Mapping

from ...submissions.errors import Frame, StudentCodeFailed
from ...submissions.reading.code import parsed
from ...submissions.reading.code_scopes import stored_to_be_called


def stored_uncallable(error: StudentCodeFailed, files: Mapping[str, bytes]) -> Frame | None:
    """Where it is stored, if one line alone stores what the line of the exception calls."""
    if "object is not callable" not in error.message or not error.frames:
        return None
    frame = error.frames[0]
    tree = dict(parsed(files)).get(frame.file)
    lines = [] if tree is None else stored_to_be_called(tree, frame.line)
    return Frame(frame.file, lines[0]) if len(lines) == 1 else None
