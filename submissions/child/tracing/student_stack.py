"""Child side: the student's own code among all that is at work."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType

from ...errors import Frame
from ...reading.code import STUDENT_PREFIX


def is_students(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(STUDENT_PREFIX)


def student_stack(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the student's code, from the innermost on."""
    while frame is not None:
        if is_students(frame):
            yield frame
        frame = frame.f_back


def line_of(frame: FrameType) -> Frame:
    """The line at which one of them is, in the file as it was handed in."""
    return Frame(frame.f_code.co_filename.removeprefix(STUDENT_PREFIX), frame.f_lineno)
