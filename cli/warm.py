"""One worker that stays ready from one grading to the next. Imports no torch."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import replace

from vitcheck.checks.engines.process import WorkerProcess
from vitcheck.checks.pictures import PictureError
from vitcheck.checks.result import Result
from vitcheck.checks.tasks import Task
from vitcheck.submissions.errors import SubmissionError
from vitcheck.submissions.popular import popular_packages


class WarmGrader:
    """Grades one task after the other; ``stop`` ends all its processes, and the next task starts them again.

    Slow packages that submissions import are imported once for all of them. As a context manager it is
    stopped in the end.
    """

    def __init__(self) -> None:
        self._worker: WorkerProcess | None = None
        self._warm: set[str] = set()

    def __enter__(self) -> WarmGrader:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def grade(self, task: Task) -> Result:
        """Raises RuntimeError where the grader itself fails, PictureError as ``Task.grade`` does."""
        worker = self._ready()
        try:
            worker.begin(self._warmed(task))
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

    def _warmed(self, task: Task) -> Task:
        """The same task; a package that is new begins the process that is forked anew."""
        with suppress(SubmissionError), task.handed.unpacked() as path:  # which grading it tells
            self._warm.update(popular_packages([path]))
        return replace(task, setting=replace(task.setting, warm=tuple(sorted(self._warm))))

    def _ready(self) -> WorkerProcess:
        if self._worker is not None and not self._worker.is_alive:
            self.stop()
        if self._worker is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="vitcheck-", ignore_cleanup_errors=True)
            self._worker = WorkerProcess(self._scratch.name)
        return self._worker
