"""The grade of a submission: one number, for every page, table and export. Imports no torch."""

from __future__ import annotations

from .adjustment import Adjustment
from .result import Result, Score


def grade(result: Result) -> Score:
    """The points that count, with those that a person gave and what was decided, and the points possible."""
    return result.score.model_copy(update={"earned": result.adjustment.total(result.score.earned)})


def of_checks(result: Result) -> Score:
    """The points that checks give; those of answers in writing are a person's."""
    by_hand = sum(one.points for one in result.written.answers) if result.written else 0.0
    possible = sum(one.points for one in result.checks) or result.score.possible - by_hand
    return Score(earned=result.score.earned, possible=round(possible, 2))


def decided(result: Result, adjustment: Adjustment, *, outdated: bool = False) -> Result:
    """The record with what was decided about it, or, if ``outdated``, about another version of the file."""
    return result.model_copy(update={"adjustment": adjustment, "outdated": outdated})
