"""Everything that can go wrong with a submission, as one tree.

SubmissionError             the submission's own fault; ends as a result with its status
├── NotLoaded               syntax error, missing package, no model, no way to build it
├── Crashed                 the process ended by itself
├── TimedOut
├── OutOfMemory
└── Refused                 it broke a limit or the protocol
StudentCodeFailed           an exception in the student's code; grading goes on around it
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Status = Literal["not_loaded", "crashed", "timed_out", "out_of_memory", "refused"]


class Frame(NamedTuple):
    """A line of the student's code: ``file`` is relative to the submission."""

    file: str
    line: int


class SubmissionError(Exception):
    """``reason`` is one sentence for the student; ``frame`` is where, if a place is to blame.

    ``part`` is the first column of that line, from 1, and the width of what is meant there, if not all.
    """

    status: Status = "crashed"

    def __init__(self, reason: str, frame: Frame | None = None, part: tuple[int, int] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.frame = frame
        self.part = part


class NotLoaded(SubmissionError):
    status = "not_loaded"


class Crashed(SubmissionError):
    status = "crashed"


class TimedOut(SubmissionError):
    status = "timed_out"


class OutOfMemory(SubmissionError):
    status = "out_of_memory"


class Refused(SubmissionError):
    status = "refused"


@dataclass
class StudentCodeFailed(Exception):
    """An exception that the student's code raised: ``type`` is its class name, ``frames`` innermost first."""

    type: str
    message: str
    frames: tuple[Frame, ...] = field(default=())
    is_placeholder: bool = False  # does the code say by it that it is not written yet?

    @property
    def frame(self) -> Frame | None:
        """The line that raised it."""
        return next(iter(self.frames), None)

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"
