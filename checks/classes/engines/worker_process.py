"""A worker process on this machine, as seen from the one that gives it tasks. Imports no torch."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import psutil

from ....submissions.launching import command, whole_environment
from ...examining.passes.pictures import PictureError
from ...record.result import Result
from ..tasks import Task
from . import EngineError, GraderFailedError, serving
from .meter import LOOK_SECONDS, Meter


class WorkerProcess:
    """A process that does one task at a time, and may die of it. ``scratch`` is a folder for what it unpacks.

    It is a Python of its own, in which nothing of the program that started it is imported: that may be a
    student's script or notebook.
    """

    task: Task

    def __init__(self, scratch: str) -> None:
        self.connection, theirs = Pipe()
        with theirs:  # or its death would not be seen
            self._started = self._start(theirs, scratch)
        self._process = psutil.Process(self._started.pid)

    def _start(self, theirs: Connection, scratch: str) -> subprocess.Popen[bytes] | psutil.Process:
        return subprocess.Popen(
            command(serving.__name__, str(theirs.fileno()), scratch, os.getcwd()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            cwd="/",  # Python imports from where it starts; it goes to the last argument afterwards
            env={**whole_environment(), "PYTHONSAFEPATH": "1"},
        )

    @property
    def is_alive(self) -> bool:
        return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE

    def begin(self, task: Task) -> None:
        self.task = task
        self._meter = Meter(self._process, task)
        with suppress(OSError):  # it is dead, as answer() will tell
            self.connection.send(task)

    def result(self) -> Result:
        """Wait for what it finds. Raises as ``answer`` does."""
        while not self.connection.poll(LOOK_SECONDS):
            if (overrun := self.overrun()) is not None:
                return overrun
        return self.answer()

    def overrun(self) -> Result | None:
        """End it where its task takes too much, and return the record of that."""
        overrun = self._meter.overrun()
        if overrun is not None:
            self.stop()
        return overrun

    def answer(self) -> Result:
        """Return what it found, once it has said so.

        Raises GraderFailedError, after which it is ended; PictureError and EngineError.
        """
        try:
            answer = self.connection.recv()
        except (EOFError, OSError):
            answer = GraderFailedError("its process died")
        if isinstance(answer, Exception):
            if isinstance(answer, GraderFailedError):
                self.stop()
            raise answer
        return Result.from_json(*answer)

    def stop(self) -> None:
        """End it at once, with every process below it."""
        self.connection.close()
        with suppress(psutil.NoSuchProcess):
            self._process.kill()
        self._started.wait()


class ForkedWorker(WorkerProcess):
    """The same as a copy of this process: it starts in no time, and what is imported is imported once.

    For commands alone, which import nothing of a student's, and have one thread when they start it.
    """

    def _start(self, theirs: Connection, scratch: str) -> psutil.Process:
        number = os.fork()
        if not number:
            self.connection.close()
            serving.begin(theirs.fileno(), scratch, os.getcwd())
        return psutil.Process(number)


class Warm:
    """One worker that is started when there is a task for it, and anew where it has ended."""

    def __init__(self, kind: type[WorkerProcess] = WorkerProcess) -> None:
        self._kind = kind
        self._worker: WorkerProcess | None = None

    def grade(self, task: Task) -> Result:
        """Raises as ``WorkerProcess.answer`` does."""
        worker = self._ready()
        try:
            worker.begin(task)
            return worker.result()
        except (PictureError, EngineError):  # answers like any other
            raise
        except BaseException:  # an interrupt: what it is at must not answer the next task
            self.stop()
            raise

    def stop(self) -> None:
        """End whatever runs."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop()
            self._scratch.cleanup()

    def _ready(self) -> WorkerProcess:
        if self._worker is not None and not self._worker.is_alive:
            self.stop()
        if self._worker is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="vitcheck-", ignore_cleanup_errors=True)
            self._worker = self._kind(self._scratch.name)
        return self._worker
