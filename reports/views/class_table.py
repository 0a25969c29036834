"""Every student by every stage, as the page of a class shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import quote

from ...checks.record.result import Status
from ..words.text import points
from ..words.wording import say
from .class_lists import Difficulty
from .stage_views import State
from .summaries import Summary


@dataclass(frozen=True)
class StageColumn:
    """A stage, and how many have it wrong."""

    label: str
    title: str
    wrong: int


@dataclass(frozen=True)
class StateRun:
    """Stages side by side in the same state, as one cell: thousands of students then cost a browser little.

    A wrong stage is alone; ``link`` leads to its section, and ``name`` says what it leads to.
    """

    state: State
    length: int
    link: str = ""
    name: str = ""

    @property
    def signs(self) -> str:
        return " ".join(self.state.sign * self.length)


@dataclass(frozen=True)
class StudentRow:
    """A student; ``standing`` and ``mistakes`` are what the filters of the page look at."""

    name: str
    link: str
    marking: str  # a link, where there are answers to mark
    score: str
    first: str
    tone: str
    standing: str
    mistakes: str
    runs: tuple[StateRun, ...]


def table_columns(rows: Sequence[Summary], hard: Sequence[Difficulty]) -> tuple[StageColumn, ...]:
    """The stages that apply to some submission, in order."""
    titles = {
        label: title
        for row in rows
        for label, (title, state) in row.stages.items()
        if state is not State.NOT_APPLICABLE
    }
    wrong = {one.label: one.wrong for one in hard}
    return tuple(StageColumn(label, title, wrong.get(label, 0)) for label, title in sorted(titles.items()))


def table_row(row: Summary, columns: Sequence[StageColumn], places: Mapping[str, int]) -> StudentRow:
    """One student; ``places`` are those of all mistakes by id."""
    made = sorted({places[one.id] for one in row.mistakes})
    return StudentRow(
        name=row.name,
        link=row.link,
        marking=f"{quote(row.submission, safe='')}/marking.html" if row.to_mark else "",
        score="–" if row.unjudged else points(row.score.earned),
        first=row.brief,
        tone=row.tone,
        standing=row.tone if row.status is Status.GRADED else row.status.value,
        mistakes=" ".join(map(str, made)),
        runs=tuple(_runs(row, columns)),
    )


def _runs(row: Summary, columns: Sequence[StageColumn]) -> Iterator[StateRun]:
    for state, those in groupby(columns, lambda one: _state(row, one.label)):
        labels = [one.label for one in those]
        if state is State.FAILED:
            yield from (_wrong(row, label) for label in labels)
        else:
            yield StateRun(state, len(labels))


def _state(row: Summary, label: str) -> State:
    return row.stages[label][1] if label in row.stages else State.NOT_REACHED


def _wrong(row: Summary, label: str) -> StateRun:
    name = say("student.wrong", label=label, word=State.FAILED.word)
    return StateRun(State.FAILED, 1, f"{row.link}#stage-{quote(label)}", name)
