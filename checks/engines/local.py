"""Workers on this machine: a process for each job."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from signal import SIG_IGN, SIGINT, signal

from ...submissions.sandbox.kernel import end_with
from ..result import Result
from ..tasks import Task
from . import Begun, Done
from .worker import Worker


class Local:
    """Up to ``jobs`` processes, each started when there is work for it, and anew where one has died."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._finishing = False
        self._workers: list[_Process] = []

    def __enter__(self) -> Local:
        self._scratch = tempfile.TemporaryDirectory(prefix="vitcheck-", ignore_cleanup_errors=True)
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()
        self._scratch.cleanup()

    def finish(self) -> None:
        self._finishing = True

    def run(self, tasks: Iterable[Task]) -> Iterator[Begun | Done]:
        waiting = iter(tasks)
        busy: list[_Process] = []
        while True:
            while len(busy) < self._jobs and not self._finishing and (task := next(waiting, None)):
                worker = self._free(busy)
                worker.begin(task)
                busy.append(worker)
                yield Begun(task)
            if not busy:
                return
            ready = wait([worker.connection for worker in busy])
            for worker in [one for one in busy if one.connection in ready]:
                busy.remove(worker)
                result = worker.result()
                if result is None:
                    worker.stop()
                    self._workers.remove(worker)
                yield Done(worker.task, result)

    def _free(self, busy: list[_Process]) -> _Process:
        for worker in self._workers:
            if worker not in busy:
                return worker
        self._workers.append(_Process(self._scratch.name))
        return self._workers[-1]


class _Process:
    """A process that does one task at a time, and may die of it."""

    task: Task

    def __init__(self, scratch: str) -> None:
        context = get_context("spawn")  # a fork of this process would inherit locks that threads hold
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, scratch, os.getpid()), daemon=True)
        self._process.start()
        theirs.close()  # or its death would not be seen

    def begin(self, task: Task) -> None:
        self.task = task
        with suppress(OSError):  # it is dead, as result() will tell
            self.connection.send(task)

    def result(self) -> Result | None:
        """Return what it found; None if it died."""
        try:
            return Result.from_json(*self.connection.recv())
        except (EOFError, OSError):
            return None

    def stop(self) -> None:
        self._process.terminate()
        self._process.join()
        self.connection.close()


def _serve(connection: Connection, scratch: str, parent: int) -> None:
    """Grade what arrives until the other side hangs up. Whatever goes wrong here ends the process."""
    signal(SIGINT, SIG_IGN)  # the other side is interrupted too, and decides
    end_with(parent)  # what is at work would be graded by the next run as well
    tempfile.tempdir = scratch  # the other side clears up what is left if this one is stopped
    with Worker() as worker, suppress(EOFError):
        while True:
            task: Task = connection.recv()
            result = worker.grade(task)
            connection.send((result.to_json(), result.arrays))
