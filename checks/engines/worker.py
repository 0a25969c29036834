"""What a worker process does, whatever engine it belongs to: one task after the other."""

from __future__ import annotations

import platform

from ...submissions.process import Zygote
from ...submissions.sandbox.isolation import IsolationError
from ..result import Result
from ..tasks import Setting, Task
from . import EngineError

_SUBMISSIONS = 500  # of one zygote: whatever little each of them leaves in it goes with it


class Worker:
    """Grades tasks in one warm zygote, which is renewed from time to time."""

    def __init__(self) -> None:
        self._zygote: Zygote | None = None
        self._setting: Setting | None = None
        self._left = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def grade(self, task: Task) -> Result:
        """Raises EngineError where this machine is not fit for it, RuntimeError where the grader fails."""
        if self._zygote is None or self._setting != task.setting or not self._left:
            self.stop()
            self._zygote = _zygote(task.setting)
            self._setting, self._left = task.setting, _SUBMISSIONS
        self._left -= 1
        return task.grade(self._zygote)

    def stop(self) -> None:
        """End every process below this one."""
        if self._zygote is not None:
            self._zygote.stop()
            self._zygote = None


def _zygote(setting: Setting) -> Zygote:
    try:
        return setting.zygote()
    except IsolationError as error:
        raise EngineError(f"{platform.node()}: {error}") from None
