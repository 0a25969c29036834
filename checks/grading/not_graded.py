"""The record of a submission that is no Python, or ended before its checks could run. Imports no torch."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from ...submissions.errors import Frame, SubmissionError
from ...submissions.reading.source import Source
from ...submissions.reading.surroundings import questions
from ..assignment.assignment import Assignment
from ..points.scoring import scored
from ..record.code_lines import location
from ..record.result import Location, Note, Result, Run, Score, Status
from .check_rows import check_rows

if TYPE_CHECKING:
    from ...submissions.questions.loading import Skipped
    from ..written.examining import Written


GRADING = ("vitcheck", "torch", "hypothesis", "pytest")  # packages that a verdict may hang on


@dataclass(frozen=True)
class Notes:
    """What was left out when the files were executed, and what was inferred of the model."""

    skipped: tuple[Skipped, ...] = ()
    inferred: tuple[str, ...] = ()


def not_graded(
    name: str,
    assignment: Assignment,
    error: SubmissionError,
    source: Source | None,
    notes: Notes,
    run: Run,
    written: Written | None = None,
) -> Result:
    """The record of a submission that ended before its checks could run; what is written counts anyway."""
    found = Result(
        schema=1,
        submission=name,
        assignment=assignment.name,
        status=Status(error.status),
        reason=error.reason,
        location=where_stopped(error, source),
        score=Score(earned=0, possible=0),
        checks=check_rows(assignment.family, written.outcomes() if written else ()),
        notes=notes_of(notes, source),
        written=written.record({}) if written else None,
        run=run,
    )
    return scored(found, assignment)


def where_stopped(error: SubmissionError, source: Source | None) -> Location | None:
    """The place to blame, if there is one."""
    return None if error.frame is None else location(error.frame, source, error.part)


def notes_of(notes: Notes, source: Source | None) -> list[Note]:
    """What is not read, not run, inferred, or for a person to look at."""
    inferred = [Note(kind="inferred", text=text) for text in notes.inferred]
    inferred += [Note(kind="skipped", text=f"not read: {one}") for one in (source.left if source else ())]
    skipped = [
        Note(
            kind="skipped",
            text=f"{left.text} — {left.reason}",
            location=location(Frame(left.file, left.line), source),
        )
        for left in notes.skipped
    ]
    return [*inferred, *skipped, *(_asked(source) if source is not None else ())]


def _asked(source: Source) -> list[Note]:
    """What the code asks of the program that it runs in, for a person to look at: it costs nothing."""
    return [
        Note(
            kind="asks",
            text=f"{one.what} is asked for: check whether the code behaves differently while it is graded",
            location=location(one.frame, source),
        )
        for one in questions(source.files)
    ]


def versions(*packages: str) -> dict[str, str]:
    """Of Python and of the packages that are named, for the record."""
    return {"python": platform.python_version(), **{one: version(one) for one in packages}}
