"""Many results as the page of a class shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from urllib.parse import quote

from ..checks.result import Status
from .stages import State
from .summaries import Summary
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
    remark: str
    marking: str  # a link, where there are answers to mark
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


def index_view(rows: Sequence[Summary]) -> IndexView:
    """Everything in the order of ``rows``."""
    titles = _stage_titles(rows)
    shown = tuple(_row(row, list(titles)) for row in rows)
    used = {mark.state for row in shown for mark in row.marks}
    return IndexView(
        assignments=", ".join(sorted({one_line(one.assignment, NAME_LIMIT) for one in rows})),
        totals=_totals(rows),
        columns=tuple(_column(rows, label, title) for label, title in titles.items()),
        rows=shown,
        tallies=_tallies(rows),
        legend=tuple(one for one in State if one in used),
    )


def _stage_titles(rows: Sequence[Summary]) -> dict[str, str]:
    """The labels of all stages that apply to some submission, in order, and their titles."""
    titles = {
        label: title
        for row in rows
        for label, (title, seen) in row.stages.items()
        if seen is not State.NOT_APPLICABLE
    }
    return dict(sorted(titles.items()))


def _row(row: Summary, labels: Sequence[str]) -> Row:
    link = f"{quote(row.submission, safe='')}/report.html"
    return Row(
        name=one_line(row.submission, NAME_LIMIT),
        link=link,
        score=score_view(row.score),
        remark=row.remark,
        marking=f"{quote(row.submission, safe='')}/marking.html" if row.to_mark else "",
        first=row.brief,
        tone=row.tone,
        marks=tuple(_mark(row, label, link) for label in labels),
    )


def _mark(row: Summary, label: str, link: str) -> Mark:
    _, seen = row.stages.get(label, ("", State.NOT_REACHED))
    wrong = seen is State.FAILED
    return Mark(one_line(label), seen, f"{link}#stage-{quote(one_line(label))}" if wrong else "")


def _column(rows: Sequence[Summary], label: str, title: str) -> Column:
    wrong = sum(label in row.stages and row.stages[label][1] is State.FAILED for row in rows)
    return Column(one_line(label), one_line(title), wrong, round(100 * wrong / len(rows), 1))


def _totals(rows: Sequence[Summary]) -> tuple[tuple[str, str], ...]:
    if not rows:
        return (("Submissions", "0"),)
    graded = sum(one.status is Status.GRADED for one in rows)
    clear = sum(one.tone == "right" for one in rows)
    scores = [one.score.earned for one in rows]
    possible = points(max(one.score.possible for one in rows))
    return (
        ("Submissions", f"{len(rows):,}"),
        ("Graded", f"{graded:,}"),
        ("Nothing wrong", f"{clear:,}"),
        ("Median score", f"{points(median(scores))} of {possible}"),
        ("Lowest and highest", f"{points(min(scores))} and {points(max(scores))}"),
    )


def _tallies(rows: Sequence[Summary]) -> tuple[Tally, ...]:
    known = {one.id: one for row in rows for one in row.mistakes}
    counts = Counter(id for row in rows for id in sorted({one.id for one in row.mistakes}))
    most = max(counts.values(), default=1)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return tuple(
        Tally(
            one_line(id),
            one_line(known[id].title),
            one_line(known[id].stage),
            count(number, "submission"),
            round(100 * number / most, 1),
        )
        for id, number in ordered
    )
