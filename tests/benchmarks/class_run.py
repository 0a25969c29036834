"""``vitcheck grade`` on a class, watched from outside while its results appear."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from watching import Watched

from vitcheck.checks.record.result import Result


@dataclass(frozen=True)
class Look:
    """One moment: seconds since the start, those of all processors, and results that are there."""

    seconds: float
    cpu: float
    results: int


@dataclass
class ClassRun:
    """The command with all defaults but ``options``, from the submissions to the folder of the reports."""

    submissions: Path
    out: Path
    options: Sequence[str] = ()
    looks: list[Look] = field(default_factory=list)

    def start(self) -> Watched:
        """Start it; what it says is kept in a file beside the reports."""
        arguments = ["grade", str(self.submissions), "--out", str(self.out), *self.options]
        self._began = time.time()
        return Watched([sys.executable, "-m", "vitcheck", *arguments], self.log, self.out.parent)

    def watch(self, command: Watched) -> Iterator[Look]:
        """Look until it has ended."""
        for _ in command.looks():
            self.looks.append(Look(time.time() - self._began, command.cpu, self._folders()))
            yield self.looks[-1]

    def finish(self) -> None:
        """Run to the end. Raises RuntimeError where the command fails."""
        command = self.start()
        for _ in self.watch(command):
            pass
        if command.exit_code:
            raise RuntimeError(f"it ended with {command.exit_code}: {self.log.read_text()}")

    @property
    def log(self) -> Path:
        return self.out.with_suffix(".log")

    def _folders(self) -> int:
        """One for each result; to look for the files in all of them takes longer than a look may take."""
        if not self.out.exists():
            return 0
        with os.scandir(self.out) as entries:
            return sum(one.is_dir() for one in entries)

    def records(self) -> list[Path]:
        """The files of the results that are there."""
        return list(self.out.glob("*/result.json"))

    def results(self) -> dict[str, Result]:
        """The results by the name of the submission."""
        return {path.parent.name: Result.from_json(path.read_bytes()) for path in self.records()}

    @property
    def seconds(self) -> float:
        return self.looks[-1].seconds

    @property
    def first_result(self) -> float:
        """Seconds from the start of the command to the first result."""
        return min(path.stat().st_mtime for path in self.records()) - self._began
