"""Workers on this machine: a process for each job."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from multiprocessing.connection import wait

from ..tasks import Task
from . import Begun, Done, GraderFailedError
from .meter import LOOK_SECONDS
from .worker_process import WorkerProcess


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
            ready = wait([worker.connection for worker in busy], LOOK_SECONDS)
            done = []
            for worker in list(busy):
                ended = _answered(worker) if worker.connection in ready else _overrun(worker)
                if ended is not None:
                    busy.remove(worker)
                    done.append(ended)

    def _free(self, busy: list[WorkerProcess]) -> WorkerProcess:
        self._workers = [worker for worker in self._workers if worker in busy or worker.is_alive]
        for worker in self._workers:
            if worker not in busy:
                return worker
        self._workers.append(WorkerProcess(self._scratch.name))
        return self._workers[-1]


def _answered(worker: WorkerProcess) -> Done:
    try:
        return Done(worker.task, worker.answer())
    except GraderFailedError as error:
        print(error, file=sys.stderr)
        return Done(worker.task, None)


def _overrun(worker: WorkerProcess) -> Done | None:
    result = worker.overrun()
    return None if result is None else Done(worker.task, result)
