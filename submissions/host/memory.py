"""How much memory the processes of a submission hold together, which no limit of the system on one bounds."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence

import psutil

from ..limits import Limits
from .control_group import ControlGroup, open_group
from .shared_memory import SharedMemory, size_of

_SHARE = 0.1  # of the time, at most, goes into exact sums: each takes up to 9 ms a process
_IN_MEMORY = ("/memfd:", "/dev/shm/")  # how the names of files in memory begin, as /proc tells them


class MemoryWatch:
    """Says when processes hold more than the limit beyond the libraries that they were forked with.

    ``shared`` is the shared memory that is not theirs alone, if that can be written to.
    """

    def __init__(self, limits: Limits, shared: SharedMemory | None = None) -> None:
        self._limits = limits
        self._shared = shared
        self._group: ControlGroup | None = None
        self._libraries = 0
        self._rest_until = 0.0

    def begin(self, processes: Sequence[psutil.Process]) -> None:
        """Take what ``processes`` hold now, before any code has run, for the libraries."""
        self._libraries = _sum(processes, _resident)
        self._group = open_group(self._limits, [one.pid for one in processes])

    def end(self) -> None:
        """Clear up what belonged to the processes, which are gone."""
        for owned in (self._group, self._shared):
            if owned:
                owned.clear()

    def is_over(self, processes: Sequence[psutil.Process]) -> bool:
        """A cheap sum, which counts what is shared once for each, says when to take the exact one."""
        if self._group and self._group.ran_out:
            return True
        limit = self._limits.memory_bytes + self._libraries
        began = time.monotonic()
        files = self._files(processes)
        if began < self._rest_until or files + _sum(processes, _resident) <= limit:
            return False
        held = files + _sum(processes, _proportional)
        ended = time.monotonic()
        self._rest_until = ended + (ended - began) / _SHARE
        return held > limit

    def _files(self, processes: Sequence[psutil.Process]) -> int:
        """Bytes of files in memory, whether or not they have a name; each counts once."""
        sizes = dict(self._shared.sizes()) if self._shared else {}
        for one in processes:
            sizes.update(_open_in_memory(one))
        return sum(sizes.values())


def _open_in_memory(process: psutil.Process) -> Iterator[tuple[tuple[int, int], int]]:
    """The files in memory that it has open, by device and number."""
    folder = f"/proc/{process.pid}/fd"
    with contextlib.suppress(OSError):  # it has just ended, or the system is another
        for descriptor in os.listdir(folder):
            with contextlib.suppress(OSError):  # it has just closed it
                if os.readlink(f"{folder}/{descriptor}").startswith(_IN_MEMORY):
                    yield size_of(os.stat(f"{folder}/{descriptor}"))


def _sum(processes: Sequence[psutil.Process], size: Callable[[psutil.Process], int]) -> int:
    total = 0
    for process in processes:
        try:
            total += size(process)
        except psutil.Error:  # it has just ended, or the system does not tell
            continue
    return total


def _resident(process: psutil.Process) -> int:
    return int(process.memory_info().rss)


def _proportional(process: psutil.Process) -> int:
    """What is shared by several counts in parts, where the system says so."""
    full = process.memory_full_info()
    return int(getattr(full, "pss", full.uss))
