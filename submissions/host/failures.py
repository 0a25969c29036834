"""How the process of a submission ended, and what its handlers raised, as errors. Imports no torch."""

from __future__ import annotations

import signal

from pydantic import ValidationError

from ..errors import Crashed, NotLoaded, OutOfMemory, Refused, StudentCodeFailed, SubmissionError, TimedOut
from ..limits import Limits
from ..questions import wire
from ..questions.question import Raised
from .replies import form

_BY_STATUS = {kind.status: kind for kind in (NotLoaded, Crashed, TimedOut, OutOfMemory, Refused)}
_SIGNALS = {  # by number: not every system that imports this has the names
    6: "was aborted from inside compiled code",
    9: "was killed, as the system does when memory runs out",
    11: "crashed inside compiled code (segmentation fault)",
}


def ended_by(code: int, limits: Limits) -> SubmissionError:
    """Of the code that the process exited with, or of a signal, negative."""
    if code == -signal.SIGXCPU:
        return TimedOut(f"the code used more than {limits.cpu_seconds} s of processor time")
    if code < 0:
        how = _SIGNALS.get(-code, f"was ended by signal {-code} ({signal.strsignal(-code)})")
        return Crashed(f"the Python process {how}")
    return Crashed(f"the code ended the Python process (exit code {code}, as os._exit() does)")


def failure_in(error: object, limits: Limits) -> SubmissionError | StudentCodeFailed:
    """What a handler, or the student's code, raised. Raises ProtocolError at any other form."""
    try:
        found: Raised | StudentCodeFailed = form(Raised | StudentCodeFailed).validate_python((error,))[0]
    except ValidationError:
        raise wire.ProtocolError("an error of an unknown form") from None
    if isinstance(found, StudentCodeFailed):
        return found
    if found.status == OutOfMemory.status and not found.reason:
        return out_of_memory(limits)
    return _BY_STATUS[found.status](found.reason, found.frame)


def out_of_memory(limits: Limits) -> OutOfMemory:
    """Of its own, or as the system sees it."""
    return OutOfMemory(f"the code needed more than {limits.memory_bytes / 2**30:g} GB of memory")
