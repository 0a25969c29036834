"""Grading many submissions: several at a time, each written as soon as it is done, none ever lost."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal

from ..submissions.process import Zygote
from ..submissions.source import submission_names
from .assignment import Assignment
from .result import Result, Run, Score, Status

_WARM = ("torchvision", "einops")  # what students import beside torch, so that it is imported only once
_LOST = "the grader itself failed on this submission, which says nothing of the work; grade it again"


@dataclass(frozen=True)
class Class:
    """Results in the order of the submissions, and the names of those on which the grader itself failed."""

    results: tuple[Result, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True)
class _Task:
    """One submission; what is needed to grade it is small and plain, so that it can go to another process."""

    path: Path
    name: str
    assignment: Assignment
    seed: int
    checks: Path | None

    def grade(self, zygote: Zygote) -> Result:
        from .grading import grade  # here, since it loads torch: by now the zygote is loading its own

        return grade(
            self.path,
            self.assignment,
            zygote=zygote,
            seed=self.seed,
            name=self.name,
            checks=self.checks,
        )

    def lost(self) -> Result:
        """Return the record of a submission on which the grader failed."""
        return Result(
            schema=1,
            submission=self.name,
            assignment=self.assignment.name,
            status=Status.CRASHED,
            reason=_LOST,
            score=Score(earned=0, possible=self.assignment.possible),
            run=Run(seed=self.seed, seconds=0),
        )


def grade_many(
    paths: Sequence[Path],
    assignment: Assignment,
    out: Path,
    *,
    jobs: int,
    seed: int,
    checks: Path | None,
    on_result: Callable[[Result], None],
) -> Class:
    """Grade the submissions at ``paths`` and write the reports of each, and of the class, below ``out``.

    Up to ``jobs`` processes share the work, which changes nothing in the results; one job needs no process
    besides the submission's. ``on_result`` sees each result once its files are written. An interrupt leaves
    everything that was done.
    """
    from ..reports import write_class, write_submission

    tasks = [
        _Task(path.resolve(), name, assignment, seed, checks and checks.resolve())
        for path, name in zip(paths, submission_names(paths), strict=True)
    ]
    done: dict[str, Result] = {}
    lost: set[str] = set()
    try:
        for task, result in _in_turn(tasks) if min(jobs, len(tasks)) == 1 else _side_by_side(tasks, jobs):
            if result is None:
                lost.add(task.name)
            done[task.name] = result or task.lost()
            write_submission(done[task.name], out / task.name)
            on_result(done[task.name])
    finally:
        ordered = tuple(done[task.name] for task in tasks if task.name in done)
        write_class(ordered, out)
    return Class(ordered, tuple(task.name for task in tasks if task.name in lost))


def _in_turn(tasks: Sequence[_Task]) -> Iterator[tuple[_Task, Result | None]]:
    with Zygote(_WARM) as zygote:
        for task in tasks:
            try:
                result = task.grade(zygote)
            except Exception:
                traceback.print_exc()
                result = None
            yield task, result


def _side_by_side(tasks: Sequence[_Task], jobs: int) -> Iterator[tuple[_Task, Result | None]]:
    """Yield each task when it is done, with None if the process that graded it died."""
    waiting = deque(tasks)
    workers = [_Worker() for _ in range(min(jobs, len(tasks)))]
    try:
        for worker in workers:
            worker.begin(waiting.popleft())
        busy = list(workers)
        while busy:
            for connection in wait([worker.connection for worker in busy]):
                (worker,) = (one for one in busy if one.connection is connection)
                busy.remove(worker)
                result = worker.result()
                yield worker.task, result
                if waiting:
                    if result is None:
                        worker.stop()
                        worker = _Worker()
                        workers.append(worker)
                    worker.begin(waiting.popleft())
                    busy.append(worker)
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process that grades one submission at a time, and may die of it."""

    task: _Task

    def __init__(self) -> None:
        context = get_context("spawn")  # a fork of this process would inherit locks that threads hold
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()  # or its death would not be seen

    def begin(self, task: _Task) -> None:
        self.task = task
        with suppress(OSError):  # it is dead, as result() will tell
            self.connection.send(task)

    def result(self) -> Result | None:
        """Return what it found; None if it died."""
        try:
            result: Result = self.connection.recv()
            return result
        except (EOFError, OSError):
            return None

    def stop(self) -> None:
        self.connection.close()
        self._process.terminate()
        self._process.join()


def _serve(connection: Connection) -> None:
    """Grade what arrives until the other side hangs up. Whatever goes wrong here ends the process."""
    signal(SIGINT, SIG_IGN)  # the other side is interrupted too, and stops this one
    with Zygote(_WARM) as zygote, suppress(EOFError):
        while True:
            task: _Task = connection.recv()
            connection.send(task.grade(zygote))
