"""Workers on this machine: a process for each job."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from multiprocessing.connection import wait

from ..tasks import Task
from . import Begun, Done
from .process import WorkerProcess


class Local:
    """Up to ``jobs`` processes, each started when there is work for it, and anew where one has died."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._finishing = False
        self._workers: list[WorkerProcess] = []

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
        busy: list[WorkerProcess] = []
        done: list[Done] = []
        while True:
            while len(busy) < self._jobs and not self._finishing and (task := next(waiting, None)):
                worker = self._free(busy)
                worker.begin(task)
                busy.append(worker)
                yield Begun(task)
            yield from done  # now that every worker is at its next task, while those are kept
            if not busy:
                return
            ready = wait([worker.connection for worker in busy])
            ended = [worker for worker in busy if worker.connection in ready]
            busy = [worker for worker in busy if worker not in ended]
            done = [self._done(worker) for worker in ended]

    def _done(self, worker: WorkerProcess) -> Done:
        result = worker.result()
        if result is None:
            worker.stop()
            self._workers.remove(worker)
        return Done(worker.task, result)

    def _free(self, busy: list[WorkerProcess]) -> WorkerProcess:
        for worker in self._workers:
            if worker not in busy:
                return worker
        self._workers.append(WorkerProcess(self._scratch.name))
        return self._workers[-1]
