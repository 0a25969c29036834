"""How long a process has been at a question, whatever else its machine does. Imports no torch."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

_FAR = 10  # times the time that is given: so rarely is a process let run on no machine that grades


class Clock:
    """Runs out after ``seconds``, without those in which the process was ready to run, and others did.

    ``kept_waiting`` says how long that was since the process began. What sleeps is not kept waiting.
    """

    def __init__(self, seconds: float, kept_waiting: Callable[[], float]) -> None:
        self._seconds, self._kept_waiting = seconds, kept_waiting
        self._began, self._waited_before = time.monotonic(), kept_waiting()

    @property
    def used(self) -> float:
        """Seconds that count."""
        waited = self._kept_waiting() - self._waited_before
        return time.monotonic() - self._began - max(0.0, waited)  # less where the process has ended

    @property
    def left(self) -> float:
        """Seconds until it may have run out; none where it has."""
        left = self._seconds - (time.monotonic() - self._began)
        return left if left > 0 or self.is_far_beyond else self._seconds - self.used

    @property
    def is_far_beyond(self) -> bool:
        """Has it run out even if nobody let the process run?"""
        return time.monotonic() - self._began > _FAR * self._seconds


def kept_waiting(process: int) -> float:
    """Seconds in which the first thread of the process could have run, and another did.

    Linux says so of each; elsewhere, and of a process that has ended, it is 0.
    """
    try:
        told = Path(f"/proc/{process}/schedstat").read_text()
    except OSError:
        return 0.0
    return int(told.split()[1]) / 1e9
