"""What stands around the table of a class: who needs a person, what is hard, who made which mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..words.wording import count, say
from .reviews import KINDS
from .stage_views import State
from .summaries import MistakeSummary, Summary

_UNFOLDED = 12  # people in a list that is read without being asked for
_JUDGED = (State.PASSED, State.IMPLIED, State.FAILED)


@dataclass(frozen=True)
class Person:
    """A submission in a list, and what is to be said of it there."""

    name: str
    link: str
    text: str = ""


@dataclass(frozen=True)
class Review:
    """Submissions that need a person for the same reason."""

    title: str
    submissions: str
    people: tuple[Person, ...]
    unfolded: bool


@dataclass(frozen=True)
class Difficulty:
    """How many have a stage wrong, of those in which it was judged."""

    label: str
    title: str
    wrong: int
    text: str
    percent: float


@dataclass(frozen=True)
class Tally:
    """A mistake, and who made it; ``percent`` is of the most frequent one."""

    id: str
    title: str
    stage: str
    submissions: str
    percent: float
    people: tuple[Person, ...]


def reviews(rows: Sequence[Summary]) -> tuple[Review, ...]:
    """The kinds of which there are any, most urgent first."""
    found = {
        kind: tuple(
            _person(row, reason.text) for row in rows for reason in row.reviews if reason.kind == kind
        )
        for kind in KINDS
    }
    return tuple(
        Review(say(f"review.{kind}"), count(len(people), "submission"), people, len(people) <= _UNFOLDED)
        for kind, people in found.items()
        if people
    )


def difficulties(rows: Sequence[Summary]) -> tuple[Difficulty, ...]:
    """The stages that somebody has wrong, hardest first."""
    stages = {label: title for row in rows for label, (title, _) in row.stages.items()}
    found = (_difficulty(rows, label, title) for label, title in sorted(stages.items()))
    return tuple(sorted((one for one in found if one.wrong), key=lambda one: -one.percent))


def tallies(rows: Sequence[Summary]) -> tuple[Tally, ...]:
    """The mistakes that were recognised, most frequent first."""
    known: dict[str, MistakeSummary] = {}
    makers: dict[str, dict[str, Summary]] = {}  # by name, since one may make it at several stages
    for row in rows:
        for mistake in row.mistakes:
            known.setdefault(mistake.id, mistake)
            makers.setdefault(mistake.id, {})[row.submission] = row
    most = max(map(len, makers.values()), default=1)
    ordered = sorted(makers.items(), key=lambda one: (-len(one[1]), one[0]))
    return tuple(_tally(known[id], [*those.values()], most) for id, those in ordered)


def _person(row: Summary, text: str = "") -> Person:
    return Person(row.name, row.link, text)


def _tally(mistake: MistakeSummary, makers: Sequence[Summary], most: int) -> Tally:
    return Tally(
        id=mistake.id,
        title=mistake.title,
        stage=mistake.stage,
        submissions=count(len(makers), "submission"),
        percent=round(100 * len(makers) / most, 1),
        people=tuple(map(_person, makers)),
    )


def _difficulty(rows: Sequence[Summary], label: str, title: str) -> Difficulty:
    states = Counter(row.stages[label][1] for row in rows if label in row.stages)
    wrong, judged = states[State.FAILED], sum(states[one] for one in _JUDGED)
    return Difficulty(
        label=label,
        title=title,
        wrong=wrong,
        text=say("difficulty.share", wrong=f"{wrong:,}", judged=f"{judged:,}"),
        percent=round(100 * wrong / (judged or 1), 1),
    )
