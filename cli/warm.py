"""One worker that stays ready from one grading to the next. Imports no torch."""

from __future__ import annotations

import tempfile

from vitcheck.checks.engines.process import WorkerProcess
from vitcheck.checks.pictures import PictureError
from vitcheck.checks.result import Result
from vitcheck.checks.tasks import Task


class WarmGrader:
    """Grades one task after the other; ``stop`` ends all its processes, and the next task starts them again.

    As a context manager it is stopped in the end.
    """

    def __init__(self) -> None:
        self._worker: WorkerProcess | None = None

    def __enter__(self) -> WarmGrader:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def grade(self, task: Task) -> Result:
        """Raises RuntimeError where the grader itself fails, PictureError as ``Task.grade`` does."""
        worker = self._ready()
        try:
            worker.begin(task)
            result = worker.result()
        except PictureError:  # an answer like any other
            raise
        except BaseException:  # an interrupt: what it is at must not answer the next task
            self.stop()
            raise
        if result is None:
            self.stop()
            raise RuntimeError("the grader itself failed, which says nothing of the work; see above")
        return result

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
            self._worker = WorkerProcess(self._scratch.name)
        return self._worker
