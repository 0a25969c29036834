"""For the test cells and test files of notebook graders: a file is graded apart from the notebook that asks.

What runs in a notebook is the student's, and so may all in it be: the grader is a program of its own.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from vitcheck import exits
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.record.grade import of_checks
from vitcheck.checks.record.result import Result, Visibility
from vitcheck.reports.formats.parts import Part, parts
from vitcheck.reports.words.standing import standing
from vitcheck.submissions.launching import command_line, whole_environment


def earned(file: str, points: float, *, assignment: str = DEFAULT) -> float:
    """Return the share of ``points`` that ``file`` earns, as the last line of a cell that nbgrader grades.

    Raises RuntimeError with the reason where the grader itself fails, or there is no such file.
    """
    score = of_checks(_graded(file, assignment))
    return round(points * score.earned / score.possible, 2)


@dataclass(frozen=True)
class Case:
    """What a file earns of the points of a part, or loses: then ``message`` says why."""

    name: str
    points: float
    hidden: bool = False
    message: str = ""

    def require(self) -> None:
        """Raise AssertionError for what is lost."""
        if self.message:
            raise AssertionError(self.message)


def cases(file: str, *, assignment: str = DEFAULT) -> list[Case]:
    """Return the cases of a test file: those without a message add up to the grade, all to what is possible.

    A part that earned some of its points is two of them. Raises RuntimeError as ``earned`` does.
    """
    result = _graded(file, assignment)
    found = [case for part in parts(result) for case in _of_part(part)]
    return found or [Case("vitcheck", of_checks(result).possible, message=_stopped(result))]


def _of_part(part: Part) -> Iterator[Case]:
    hidden, lost = part.visibility is not Visibility.VISIBLE, round(part.points - part.earned, 2)
    if part.earned:
        yield Case(f"{part.name} (earned)" if lost else part.name, part.earned, hidden)
    if lost:
        yield Case(part.name, lost, hidden, _why(part))


def _why(part: Part) -> str:
    """The mistake and the question, or what the first failed check says."""
    if part.fault:
        return f"{part.fault.sentence} {part.fault.question}".strip()
    told = part.wrong or part.checks
    return f"{told[0].title} {told[0].message}".strip()


def _stopped(result: Result) -> str:
    stands = standing(result)
    return f"{stands.sentence} {stands.advice}".strip()


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
