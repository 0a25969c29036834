"""Tasks that are done at once, by what the submission says, so that a grader can be had that fails."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from safetensors.numpy import save

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.classes.tasks import Setting, Task
from vitcheck.checks.examining.passes.pictures import PictureError
from vitcheck.checks.record.result import Result, Status
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.limits import Limits
from vitcheck.submissions.reading.packing import HandIn
from vitcheck.submissions.sandbox.isolation import IsolationError

os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # where workers find the tasks that they are sent
_ARRAYS = save({"S25/student": np.ones(1, np.float32)}, {"stages": "{}"})


class _NoZygote:
    def stop(self) -> None:
        pass


@dataclass(frozen=True)
class NoChildren(Setting):
    """No torch is imported for what is never run."""

    def zygote(self) -> Zygote:
        return cast(Zygote, _NoZygote())


@dataclass(frozen=True)
class Unfit(Setting):
    """Asks for what no machine has."""

    def zygote(self) -> Zygote:
        raise IsolationError("this machine does not keep submissions from files")


@dataclass(frozen=True)
class Quick(Task):
    """Says ``die``, ``raise``, ``checks``, ``spin``, ``fill``, ``slow``, ``wait FILE`` or ``late MARK``.

    What it says it does, and is the reason, too; of ``checks`` that is where those lie, with a mark.
    """

    setting: Setting = NoChildren()

    def grade(self, zygote: Zygote, checks: Path | None = None) -> Result:
        (content,) = self.handed.files.values()
        match content.decode().split():
            case ["checks"] if checks is not None:
                content = f"{checks}{' again' * (checks / 'mark').exists()}".encode()
                (checks / "mark").touch()
            case ["die"]:
                os._exit(1)
            case ["raise"]:
                raise RuntimeError("a fault of the grader")
            case ["refuse"]:
                raise PictureError("the model reads no such picture")
            case ["spin"]:
                re.match("(,*)*;", "," * 10_000)
            case ["fill"]:
                kept = [bytearray(1 << 24) for _ in range(64)]
                time.sleep(60 * len(kept))
            case ["late", mark] if not Path(mark).exists():
                Path(mark).touch()
                return self._ended(Status.TIMED_OUT, "no time was left")
            case ["slow"]:
                return self._ended(Status.TIMED_OUT, "no time was left")
            case ["wait", file]:
                while not Path(file).exists():
                    time.sleep(0.01)
        ended = self._ended(Status.CRASHED, content.decode()[:100])
        return ended.model_copy(update={"arrays": _ARRAYS})


def quick(limits: Limits | None = None, /, **texts: str) -> Iterable[Quick]:
    """Yield a task for each submission and its text."""
    asked = load_assignment("vit-debugging").model_copy(update={"limits": limits or Limits()})
    for name, text in texts.items():
        handed = HandIn(f"{name}.py", False, {f"{name}.py": text.encode()})
        yield Quick(handed, name, asked, seed=7)
