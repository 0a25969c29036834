"""A command watched from outside: what it and all that it starts use. For Linux."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from select import select

import psutil

_SECONDS = 0.1  # between two looks


class Watched:
    """A running command. What it says is appended to the file ``said``.

    ``cpu`` is the processor seconds of it and of all below it, those that have ended included. They are read
    while they run, since what a zygote's children used is in no one's books once they have ended.
    """

    def __init__(
        self, arguments: Sequence[str], said: Path, folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        with said.open("ab") as log:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env=environment,
            )
        self.pid = self._process.pid
        self._exit = os.pidfd_open(self.pid)
        self._seconds: dict[tuple[int, float], float] = {}
        self.cpu = 0.0

    def looks(self) -> Iterator[None]:
        """Look, again and again, until the command has ended."""
        while not select([self._exit], [], [], _SECONDS)[0]:
            self._look()
            yield
        os.close(self._exit)
        _, status, booked = os.wait4(self.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu = max(self.cpu, booked.ru_utime + booked.ru_stime)  # exact, where all were waited for
        yield

    def finish(self) -> int:
        """Watch it to the end, and return its exit code."""
        for _ in self.looks():
            pass
        return self.exit_code

    @property
    def exit_code(self) -> int:
        """What it ended with; a signal is negative."""
        assert self._process.returncode is not None
        return self._process.returncode

    def kill(self) -> None:
        """As ``kill -9`` does: it alone, and with no chance to clean up."""
        self._process.kill()

    def tree(self) -> list[psutil.Process]:
        """It and all below it, as far as they run."""
        with suppress(psutil.NoSuchProcess):
            top = psutil.Process(self.pid)
            return [top, *top.children(recursive=True)]
        return []

    def memory(self) -> int:
        """Bytes of memory of all of them, where what several share counts once."""
        total = 0
        for one in self.tree():
            with suppress(psutil.NoSuchProcess):
                total += one.memory_full_info().pss
        return total

    def _look(self) -> None:
        for one in self.tree():
            with suppress(psutil.NoSuchProcess):
                times = one.cpu_times()
                self._seconds[one.pid, one.create_time()] = times.user + times.system
        self.cpu = sum(self._seconds.values())
