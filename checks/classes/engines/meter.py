"""What a worker uses for one task, and when that is more than judging may take. Imports no torch."""

from __future__ import annotations

import time

import psutil

from ...record.result import Result
from ..tasks import Task

LOOK_SECONDS = 0.2  # between two looks at a worker, which can fill 0.4 GB of memory in that time
_FAR = 4  # times the limits until waiting alone is too long: no load of a machine comes near


class Meter:
    """Counts for one task from now on.

    The clock counts the worker's own processor time, which does not depend on what else the machine does;
    what runs below the worker has the clocks of its requests. The far end is for a worker that waits.
    """

    def __init__(self, worker: psutil.Process, task: Task) -> None:
        self._worker, self._task = worker, task
        self._before = _processor_seconds(worker)
        limits = task.assignment.limits
        self._far_end = time.monotonic() + _FAR * (
            limits.judge_seconds + limits.submission_seconds * limits.large_times
        )

    def overrun(self) -> Result | None:
        """The record of the task where the worker has used more than it may, and is to be ended."""
        limits = self._task.assignment.limits
        try:
            used = _processor_seconds(self._worker) - self._before
            held = self._worker.memory_info().rss
        except psutil.Error:  # it has ended, as its connection tells
            return None
        if used > limits.judge_seconds or time.monotonic() > self._far_end:
            return self._task.took_too_long()
        return self._task.took_too_much_memory() if held > limits.judge_bytes else None


def _processor_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
