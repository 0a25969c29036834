"""How the process of a submission ended, and what its handlers raised, as errors. Imports no torch."""

from __future__ import annotations

import signal

from ..errors import Crashed, Frame, NotLoaded, OutOfMemory, Refused, SubmissionError, TimedOut
from ..limits import Limits
from ..questions import wire

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


def failure_in(error: object, limits: Limits) -> SubmissionError | None:
    """What a handler raised; None where it was the student's code. Raises ProtocolError at any other form."""
    match error:
        case {"kind": "memory"}:
            return out_of_memory(limits)
        case {"kind": "student", "type": str(), "message": str(), "frames": list(frames)} if all(
            _is_frame(one) for one in frames
        ):
            return None
        case {"kind": str(kind), "reason": str(reason), "frame": frame} if kind in _BY_STATUS:
            if frame is None:
                return _BY_STATUS[kind](reason)
            if _is_frame(frame):
                return _BY_STATUS[kind](reason, Frame(*frame))
    raise wire.ProtocolError("an error of an unknown form")


def out_of_memory(limits: Limits) -> OutOfMemory:
    """Of its own, or as the system sees it."""
    return OutOfMemory(f"the code needed more than {limits.memory_bytes / 2**30:g} GB of memory")


def _is_frame(value: object) -> bool:
    match value:
        case [str(), int()]:
            return True
    return False
