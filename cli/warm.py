"""One worker that stays ready from one grading to the next. Imports no torch."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from vitcheck.checks.classes.engines import GraderFailedError
from vitcheck.checks.classes.engines.worker_process import Warm, WorkerProcess
from vitcheck.checks.classes.tasks import Task
from vitcheck.checks.record.for_students import for_students
from vitcheck.checks.record.result import Result
from vitcheck.submissions.errors import SubmissionError
from vitcheck.submissions.host.popular import popular_packages


class WarmGrader:
    """Grades one task after the other; ``stop`` ends all its processes, and the next task starts them again.

    Slow packages that submissions import are imported once for all of them. As a context manager it is
    stopped in the end.
    """

    def __init__(self, kind: type[WorkerProcess] = WorkerProcess) -> None:
        self._worker = Warm(kind)
        self._warm: set[str] = set()

    def __enter__(self) -> WarmGrader:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def grade(self, task: Task) -> Result:
        """Of an assignment for students, what they may see.

        Raises RuntimeError where the grader itself fails, PictureError as ``Task.grade`` does.
        """
        result = self._graded(task)
        return for_students(result) if task.assignment.for_students else result

    def stop(self) -> None:
        """End whatever runs."""
        self._worker.stop()

    def _graded(self, task: Task) -> Result:
        if (told := task.unreadable()) is not None:
            return told
        try:
            return self._worker.grade(self._warmed(task))
        except GraderFailedError as error:
            failed = "the grader itself failed, which says nothing of the work"
            raise RuntimeError(f"{failed}: {error}") from None

    def _warmed(self, task: Task) -> Task:
        """The same task; a package that is new begins the process that is forked anew."""
        with suppress(SubmissionError), task.handed.unpacked() as path:  # which grading it tells
            self._warm.update(popular_packages([path]))
        return replace(task, setting=replace(task.setting, warm=tuple(sorted(self._warm))))
