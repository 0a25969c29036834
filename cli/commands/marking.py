"""The points that a person gives for answers in writing."""

from __future__ import annotations

from collections.abc import Mapping

from vitcheck.checks.architecture.complaints import near
from vitcheck.checks.record.adjustment import Adjustment
from vitcheck.checks.record.result import Result
from vitcheck.reports.words.text import points


def new_marks(result: Result, adjustment: Adjustment, given: Mapping[str, float | None]) -> dict[str, float]:
    """Return all marks of a submission after those ``given``; None takes one back.

    Raises ValueError where the assignment has no such question, or fewer points for it.
    """
    possible = {one.id: one.points for one in (result.written.answers if result.written else ())}
    for question, mark in given.items():
        _check(question, mark, possible, result.assignment)
    marks = {**adjustment.marks, **given}
    return {question: mark for question, mark in marks.items() if mark is not None}


def _check(question: str, mark: float | None, possible: Mapping[str, float], assignment: str) -> None:
    if not possible:
        raise ValueError(f"no question was asked in writing when it was graded as {assignment}")
    if question not in possible:
        raise ValueError(f"there is no question {question}; {near(question, possible)}")
    most = possible[question]
    if mark is None or mark <= most:
        return
    if not most:
        raise ValueError(
            f"{question} is worth nothing in {assignment}: say in a file of yours what it is worth, with"
            f" points = 2 below [written.questions.{question}], and grade with that"
        )
    raise ValueError(f"{question} is worth {points(most)}: for more than that, use gradebook adjust --points")
