"""A child and everything it has started: seeing how it ends, and ending it. Imports no torch."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import time
from dataclasses import dataclass

import psutil

_KILL_SECONDS = 5.0  # until a killed tree must be gone: 300 processes take 1.3 s, 6 GB of shared memory 1.1 s
_LOOK_SECONDS = 0.01  # between the first round of kills and the second
_REPORT_BYTES = 4096
_SENDER = struct.Struct("iII")  # process, user and group id, as the system translates them for this process
_SENDERS = hasattr(socket, "SO_PASSCRED")  # on Linux, the only system where the translation is needed
_SENDER_BYTES = socket.CMSG_SPACE(_SENDER.size)


def descendants(root: psutil.Process) -> list[psutil.Process]:
    """Every living process below ``root``; none where ``root`` itself is gone."""
    try:
        return root.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def kill_descendants(root: psutil.Process) -> int:
    """Kill every process below ``root`` once, and say how many there were.

    Repeat until there are none: a process may fork between the look and the kill, and one whose parent has
    just ended is seen only the next time.
    """
    found = descendants(root)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.kill()
    return len(found)


@dataclass(frozen=True)
class Usage:
    """What a child and all that it started have used."""

    cpu_seconds: float
    max_rss_bytes: int  # of the largest process


class Tree:
    """The processes of one submission, below the monitor that adopts orphans and reports on ``reports``.

    ``exit`` is the child's exit code once it has ended, negative where a signal ended it. ``usage`` is known
    when nothing is left alive. ``lost`` says that the monitor itself was killed.
    """

    def __init__(self, reports: socket.socket) -> None:
        self.exit: int | None = None
        self.usage: Usage | None = None
        self.lost = False
        self.reports = reports
        self._monitor: psutil.Process | None = None
        self._unread = b""
        if _SENDERS:
            reports.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)

    @property
    def over(self) -> bool:
        return self.lost or self.usage is not None

    def processes(self) -> list[psutil.Process]:
        """Those that live in it."""
        return descendants(self._monitor) if self._monitor else []

    def meet(self, seconds: float) -> None:
        """Give the monitor ``seconds`` to say who it is; without that there are no processes to be seen."""
        deadline = time.monotonic() + seconds
        while self._monitor is None and not self.over and (left := deadline - time.monotonic()) > 0:
            self.look(left)

    def look(self, seconds: float) -> None:
        """Take in what the monitor reports within ``seconds``, if it does."""
        self.reports.settimeout(seconds)
        try:
            text, sender, _, _ = self.reports.recvmsg(_REPORT_BYTES, _SENDER_BYTES)
        except TimeoutError:
            return
        except ConnectionError:
            text, sender = b"", []
        self.lost = not text
        *lines, self._unread = (self._unread + text).split(b"\n")
        for line in lines:
            self._note(json.loads(line), sender)

    def _note(self, report: dict[str, float], sender: list[tuple[int, int, bytes]]) -> None:
        if "monitor" in report:  # as it calls itself, which in a namespace of its own is another number
            number = _SENDER.unpack(sender[0][2])[0] if sender else int(report["monitor"])
            with contextlib.suppress(psutil.NoSuchProcess):
                self._monitor = psutil.Process(number)
        elif "exit" in report:
            self.exit = int(report["exit"])
        else:
            self.usage = Usage(report["cpu_seconds"], int(report["max_rss_bytes"]))

    def wait(self, seconds: float) -> None:
        """Give the child ``seconds`` to end by itself."""
        deadline = time.monotonic() + seconds
        while self.exit is None and not self.over and (left := deadline - time.monotonic()) > 0:
            self.look(left)

    def kill(self) -> bool:
        """End all of it; False where that could not be seen through, and the zygote has to go too."""
        deadline = time.monotonic() + _KILL_SECONDS
        pause = _LOOK_SECONDS
        while not self.over and time.monotonic() < deadline:
            if self._monitor:
                kill_descendants(self._monitor)
            self.look(pause)
            pause *= 2  # to look at all processes takes from what it takes the system to end them
        self.reports.close()  # the monitor ends on that
        return self.usage is not None
