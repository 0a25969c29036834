"""A worker process on this machine, as seen from the one that gives it tasks. Imports no torch."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from multiprocessing import Pipe

from ...submissions.launching import command, whole_environment
from ..pictures import PictureError
from ..result import Result
from ..tasks import Task

_SERVING = f"{__package__}.serving"


class WorkerProcess:
    """A process that does one task at a time, and may die of it. ``scratch`` is a folder for what it unpacks.

    It is a Python of its own, in which nothing of the program that started it is imported: that may be a
    student's script or notebook.
    """

    task: Task

    def __init__(self, scratch: str) -> None:
        self.connection, theirs = Pipe()
        with theirs:  # or its death would not be seen
            self._process = subprocess.Popen(
                command(_SERVING, str(theirs.fileno()), scratch, os.getcwd()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd="/",  # Python imports from where it starts; it goes to the last argument afterwards
                env={**whole_environment(), "PYTHONSAFEPATH": "1"},
            )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def begin(self, task: Task) -> None:
        self.task = task
        with suppress(OSError):  # it is dead, as result() will tell
            self.connection.send(task)

    def result(self) -> Result | None:
        """Return what it found; None if it died. Raises PictureError."""
        try:
            answer = self.connection.recv()
        except (EOFError, OSError):
            return None
        if isinstance(answer, PictureError):
            raise answer
        return Result.from_json(*answer)

    def stop(self) -> None:
        """End it at once, with every process below it."""
        self._process.terminate()
        self._process.wait()
        self.connection.close()
