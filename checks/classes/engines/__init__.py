"""Where tasks are done: what all engines have in common. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ...record.result import Result
from ..tasks import Task


class EngineError(Exception):
    """The engine cannot work; the message says why and what to do. No submission is to blame."""


class GraderFailedError(Exception):
    """The grader itself failed on a task, or its process died of it; the text says what is known."""


@dataclass(frozen=True)
class Begun:
    """A worker takes up the task."""

    task: Task


@dataclass(frozen=True)
class Done:
    """The task is done; ``result`` is None where the grader itself failed, or its process died of it."""

    task: Task
    result: Result | None


class Engine(Protocol):
    """Workers that grade. To leave it, as a context manager, stops at once whatever still runs."""

    def __enter__(self) -> Engine: ...

    def __exit__(self, *error: object) -> None: ...

    def run(self, tasks: Iterable[Task]) -> Iterator[Begun | Done]:
        """Do the tasks, several at a time, each taken from ``tasks`` when there is a worker for it."""

    def finish(self) -> None:
        """Take up nothing further: ``run`` ends when what runs is finished. Signal handlers may call it."""
