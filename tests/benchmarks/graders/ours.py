"""vitcheck, with the ten checks alone and with its own suite as well."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from shutil import copy

from vitcheck.checks.record.result import Outcome, Result

from .grader import COURSE, Command, Grader


class Vitcheck(Grader):
    """The ten checks, and no others."""

    name = "vitcheck"
    requirements = ()
    shares_work = True
    points = "own = 100"

    def install(self, *, share_torch: bool) -> None:
        """It is the one that runs here."""

    def installed_version(self) -> str:
        return version("vitcheck")

    def surroundings(self) -> dict[str, str]:
        return dict(os.environ)

    def lay_out(self, folder: Path, submissions: Mapping[str, str]) -> None:
        super().lay_out(folder / "submissions", submissions)
        asked = (COURSE / "ten_checks.toml").read_text("utf-8")
        (folder / "asked.toml").write_text(asked.replace(Vitcheck.points, self.points), "utf-8")
        (folder / "own").mkdir()
        copy(COURSE / "own_ten_checks.py", folder / "own" / "test_ten.py")  # here pytest would find that name

    def commands(self, folder: Path, names: Sequence[str], jobs: int) -> list[Command]:
        options = ("--assignment", "asked.toml", "--checks", "own", "--jobs", str(jobs))
        return [Command((sys.executable, "-m", "vitcheck", "grade", "submissions", *options), folder)]

    def passed(self, folder: Path, name: str) -> set[str]:
        result = Result.from_json((folder / "grades" / name / "result.json").read_bytes())
        return {
            one.id.removeprefix("own.")
            for one in result.checks
            if one.id.startswith("own.") and one.outcome is Outcome.PASSED
        }


class VitcheckWithSuite(Vitcheck):
    """The ten checks after the whole suite, on as many examples."""

    name = "vitcheck, whole suite"
    points = "own = 10\nequations = 90"
