"""Points as people read them."""

from __future__ import annotations

from dataclasses import dataclass

from ...checks.record.faults import to_write
from ...checks.record.grade import grade
from ...checks.record.result import Result
from .standing import so_far
from .text import points
from .wording import say


@dataclass(frozen=True)
class ScoreView:
    """Points, as they are shown; ``text`` is a sentence of both."""

    earned: str
    possible: str
    text: str


def score_view(result: Result) -> ScoreView:
    """The grade; of unfinished work, or where some are told later, with those so far."""
    score = grade(result)
    earned, possible, far = (points(one) for one in (score.earned, score.possible, so_far(result)))
    key = "terminal.so_far" if to_write(result) or result.later else "terminal.score"
    return ScoreView(earned, possible, say(key, earned=earned, possible=possible, so_far=far))
