"""What a worker process does, whatever engine it belongs to: one task after the other."""

from __future__ import annotations

import platform
from contextlib import ExitStack
from pathlib import Path

from ....submissions.host.collecting import collected_afterwards
from ....submissions.host.process import Zygote
from ....submissions.reading.packing import HandIn
from ....submissions.sandbox.isolation import IsolationError
from ...record.result import Result
from ..tasks import Setting, Task
from . import EngineError

_SUBMISSIONS = 500  # of one zygote: whatever little each of them leaves in it goes with it


class Worker:
    """Grades tasks in one warm zygote, which is renewed from time to time."""

    def __init__(self) -> None:
        self._zygote: Zygote | None = None
        self._setting: Setting | None = None
        self._left = 0
        self._checks: tuple[str, Path] | None = None  # the digest of what is unpacked, and where
        self._unpacked = ExitStack()

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
        with collected_afterwards():
            return task.grade(self._zygote, self._own_checks(task.checks))

    def _own_checks(self, handed: HandIn | None) -> Path | None:
        """The instructor's folder, which stays: pytest compiles what lies in it once."""
        if handed is None:
            return None
        if self._checks is None or self._checks[0] != handed.digest:
            self._unpacked.close()
            self._checks = handed.digest, self._unpacked.enter_context(handed.unpacked())
        return self._checks[1]

    def stop(self) -> None:
        """End every process below this one, and leave no file."""
        self._unpacked.close()
        self._checks = None
        if self._zygote is not None:
            self._zygote.stop()
            self._zygote = None


def _zygote(setting: Setting) -> Zygote:
    try:
        return setting.zygote()
    except IsolationError as error:
        raise EngineError(f"{platform.node()}: {error}") from None
