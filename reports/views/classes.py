"""Many results as the page of a class shows them: built here, so that the template decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ...checks.record.result import Status
from ..figures.bars import histogram
from ..figures.figure_parts import Histogram
from ..words.text import NAME_LIMIT, one_line, points
from ..words.wording import say
from .class_lists import Difficulty, Review, Tally, difficulties, reviews, tallies
from .class_table import StageColumn, StudentRow, table_columns, table_row
from .question_view import page_of
from .stage_views import State
from .summaries import Summary


@dataclass(frozen=True)
class IndexView:
    """Everything on the page, in its order."""

    heading: str
    totals: tuple[tuple[str, str], ...]
    questions: tuple[tuple[str, str, str], ...]  # id, page, and how many answers are marked
    reviews: tuple[Review, ...]
    marks: Histogram | None
    difficulties: tuple[Difficulty, ...]
    tallies: tuple[Tally, ...]
    standings: tuple[tuple[str, str], ...]
    legend: tuple[State, ...]
    columns: tuple[StageColumn, ...]
    rows: tuple[StudentRow, ...]


def index_view(rows: Sequence[Summary]) -> IndexView:
    """Everything in the order of ``rows``."""
    hard, mistakes = difficulties(rows), tallies(rows)
    columns = table_columns(rows, hard)
    places = {one.id: place for place, one in enumerate(mistakes)}
    shown = tuple(table_row(row, columns, places) for row in rows)
    used = {run.state for row in shown for run in row.runs}
    assignments = sorted({one_line(one.assignment, NAME_LIMIT) for one in rows})
    return IndexView(
        heading=", ".join(assignments) or say("class.nobody"),
        totals=_totals(rows),
        questions=_questions(rows),
        reviews=reviews(rows),
        marks=histogram(row.percent for row in rows if not row.unjudged) if rows else None,
        difficulties=hard,
        tallies=mistakes,
        standings=_standings(shown),
        legend=tuple(one for one in State if one in used),
        columns=columns,
        rows=shown,
    )


def _questions(rows: Sequence[Summary]) -> tuple[tuple[str, str, str], ...]:
    ids = dict.fromkeys(id for row in rows for id in row.marked)
    return tuple((id, page_of(id), _left([row.marked[id] for row in rows if id in row.marked])) for id in ids)


def _left(marked: Sequence[bool]) -> str:
    return say("question.left", left=f"{marked.count(False):,}", all=f"{len(marked):,}")


def _totals(rows: Sequence[Summary]) -> tuple[tuple[str, str], ...]:
    totals = {"submissions": f"{len(rows):,}"}
    if rows:
        scores = [one.score.earned for one in rows if not one.unjudged] or [0.0]
        possible = points(max(one.score.possible for one in rows))
        lowest, highest = points(min(scores)), points(max(scores))
        totals |= {
            "graded": f"{sum(one.status is Status.GRADED for one in rows):,}",
            "right": f"{sum(one.tone == 'right' for one in rows):,}",
            "median": say("total.of", earned=points(median(scores)), possible=possible),
            "range": say("total.from_to", lowest=lowest, highest=highest),
        }
    if tried := [one.proven for one in rows if one.proven is not None]:
        totals["proven"] = say("total.share", count=f"{tried.count(True):,}", all=f"{len(tried):,}")
    if answers := [one for row in rows for one in row.marked.values()]:
        totals["unmarked"] = _left(answers)
    return tuple((say(f"total.{name}"), text) for name, text in totals.items())


def _standings(rows: Sequence[StudentRow]) -> tuple[tuple[str, str], ...]:
    """What the filter offers, and its words."""
    words = {tone: say(f"filter.{tone}") for tone in ("right", "unfinished", "wrong")}
    words |= {one.value: say(f"status.{one.value}") for one in Status if one is not Status.GRADED}
    used = {row.standing for row in rows}
    return tuple((value, word) for value, word in words.items() if value in used)
