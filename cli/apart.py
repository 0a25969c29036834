"""For the test cells and test files of notebook graders: a file is graded apart from the notebook that asks.

What runs in a notebook is the student's, and so may all in it be: the grader is a program of its own.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from vitcheck import exits
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.record.result import CheckResult, Result, Status
from vitcheck.reports.words.standing import findings
from vitcheck.submissions.launching import command_line, whole_environment


def earned(file: str, points: float, *, assignment: str = DEFAULT) -> float:
    """Return the share of ``points`` that ``file`` earns, as the last line of a cell that nbgrader grades.

    Raises RuntimeError with the reason where the grader itself fails, or there is no such file.
    """
    score = _graded(file, assignment).score
    return round(points * score.earned / score.possible, 2)


def require(part: str, file: str, *, assignment: str = DEFAULT) -> None:
    """Raise AssertionError, saying what is wrong, unless ``file`` passes all checks of ``part``.

    Parts are called as ``CheckResult.part`` says. Raises RuntimeError as ``earned`` does.
    """
    result = _graded(file, assignment)
    failed = [one for one in result.checks if one.costs and one.part == part]
    if failed or result.status is not Status.GRADED:
        raise AssertionError(_why(result, part, failed))


def _why(result: Result, part: str, failed: Sequence[CheckResult]) -> str:
    """The mistake and the question, or what the first failed check says."""
    for found in findings(result):
        if found.label == part or found.tone == "stopped":
            return f"{found.sentence} {found.question or found.advice}"
    return f"{failed[0].title} {failed[0].message}"


@cache
def _graded(file: str, assignment: str) -> Result:
    """Once for all tests of a notebook."""
    with TemporaryDirectory(prefix="vitcheck-") as folder:
        written = Path(folder, "result.json")
        options = ["--assignment", assignment, "--isolation", "auto", "--json", str(written)]
        command = command_line("check", *options, "--", file)
        done = subprocess.run(command, env=whole_environment(), capture_output=True, text=True)
        if done.returncode not in (exits.FINE, exits.WRONG):
            raise RuntimeError(f"{file} was not graded, which says nothing of it: {done.stderr.strip()}")
        return Result.from_json(written.read_bytes())
