"""How much memory the processes of a submission hold together, which no limit of the system on one bounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import psutil

_SHARE = 0.1  # of the time, at most, goes into exact sums: each takes up to 9 ms a process


class MemoryWatch:
    """Says when processes hold more than ``limit`` bytes beyond the libraries that they were forked with."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._libraries = 0
        self._rest_until = 0.0

    def begin(self, processes: Sequence[psutil.Process]) -> None:
        """Take what ``processes`` hold now, before any code has run, for the libraries."""
        self._libraries = _sum(processes, _resident)

    def is_over(self, processes: Sequence[psutil.Process]) -> bool:
        """A cheap sum, which counts what is shared once for each, says when to take the exact one."""
        limit = self._limit + self._libraries
        began = time.monotonic()
        if began < self._rest_until or _sum(processes, _resident) <= limit:
            return False
        held = _sum(processes, _proportional)
        ended = time.monotonic()
        self._rest_until = ended + (ended - began) / _SHARE
        return held > limit


def _sum(processes: Sequence[psutil.Process], size: Callable[[psutil.Process], int]) -> int:
    total = 0
    for one in processes:
        try:
            total += size(one)
        except psutil.Error:  # it has just ended, or the system does not tell
            continue
    return total


def _resident(process: psutil.Process) -> int:
    return int(process.memory_info().rss)


def _proportional(process: psutil.Process) -> int:
    """What is shared by several counts in parts, where the system says so."""
    full = process.memory_full_info()
    return int(getattr(full, "pss", full.uss))
