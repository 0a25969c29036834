"""Many results as the page of a class shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from urllib.parse import quote

from ..checks.result import Result, StageStatus, Status
from .stages import State, state
from .standing import standing
from .text import NAME_LIMIT, count, one_line, points
from .view import ScoreView, score_view


@dataclass(frozen=True)
class Mark:
    """A stage of one student; ``link`` leads to its section where there is something to read."""

    label: str
    state: State
    link: str


@dataclass(frozen=True)
class Row:
    """A student."""

    name: str
    link: str
    score: ScoreView
    first: str
    tone: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Column:
    """A stage over the class: how many have it wrong, and the share in per cent."""

    label: str
    title: str
    wrong: int
    percent: float


@dataclass(frozen=True)
class Tally:
    """How many submissions show a mistake, and the share of the most frequent one in per cent."""

    id: str
    title: str
    stage: str
    submissions: str
    percent: float


@dataclass(frozen=True)
class IndexView:
    """Everything on the page, in its order."""

    assignments: str
    totals: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    tallies: tuple[Tally, ...]
    legend: tuple[State, ...]


def by_name(results: Sequence[Result]) -> list[Result]:
    """The order of rows in everything about a class."""
    return sorted(results, key=lambda one: (one.submission.casefold(), one.submission))


def stage_titles(results: Sequence[Result]) -> dict[str, str]:
    """The labels of all stages that apply to some result, in order, and their titles."""
    titles = {
        label: stage.title
        for result in results
        for label, stage in result.stages.items()
        if stage.status is not StageStatus.NOT_APPLICABLE
    }
    return dict(sorted(titles.items()))


def index_view(results: Sequence[Result]) -> IndexView:
    """Rows are sorted by name."""
    ordered, titles = by_name(results), stage_titles(results)
    rows = tuple(_row(result, list(titles)) for result in ordered)
    used = {mark.state for row in rows for mark in row.marks}
    return IndexView(
        assignments=", ".join(sorted({one_line(one.assignment, NAME_LIMIT) for one in results})),
        totals=_totals(results),
        columns=tuple(_column(results, label, title) for label, title in titles.items()),
        rows=rows,
        tallies=_tallies(ordered),
        legend=tuple(one for one in State if one in used),
    )


def _row(result: Result, labels: Sequence[str]) -> Row:
    stands = standing(result)
    link = f"{quote(result.submission, safe='')}/report.html"
    return Row(
        name=one_line(result.submission, NAME_LIMIT),
        link=link,
        score=score_view(result.score),
        first=stands.brief,
        tone=stands.tone,
        marks=tuple(_mark(result, label, link) for label in labels),
    )


def _mark(result: Result, label: str, link: str) -> Mark:
    stage = result.stages.get(label)
    seen = state(stage) if stage else State.NOT_REACHED
    wrong = seen is State.FAILED
    return Mark(one_line(label), seen, f"{link}#stage-{quote(one_line(label))}" if wrong else "")


def _column(results: Sequence[Result], label: str, title: str) -> Column:
    wrong = sum(
        label in result.stages and result.stages[label].status is StageStatus.FAILED for result in results
    )
    return Column(one_line(label), one_line(title), wrong, round(100 * wrong / len(results), 1))


def _totals(results: Sequence[Result]) -> tuple[tuple[str, str], ...]:
    if not results:
        return (("Submissions", "0"),)
    graded = sum(one.status is Status.GRADED for one in results)
    clear = sum(standing(one).tone == "right" for one in results)
    scores = [one.score.earned for one in results]
    possible = points(max(one.score.possible for one in results))
    return (
        ("Submissions", f"{len(results):,}"),
        ("Graded", f"{graded:,}"),
        ("Nothing wrong", f"{clear:,}"),
        ("Median score", f"{points(median(scores))} of {possible}"),
        ("Lowest and highest", f"{points(min(scores))} and {points(max(scores))}"),
    )


def _tallies(results: Sequence[Result]) -> tuple[Tally, ...]:
    known = {one.id: one for result in results for one in result.mistakes}
    counts = Counter(name for result in results for name in sorted({one.id for one in result.mistakes}))
    most = max(counts.values(), default=1)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return tuple(
        Tally(
            one_line(name),
            one_line(known[name].title),
            one_line(known[name].stage),
            count(number, "submission"),
            round(100 * number / most, 1),
        )
        for name, number in ordered
    )
