"""What is shown of one result about a class: little of it, so that thousands have room in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import quote

from ...checks.record.grade import grade
from ...checks.record.result import CheckResult, Result, Score, Status
from ..words.alike import alike, spelled_out
from ..words.lateness import late_text
from ..words.remarks import remark
from ..words.standing import standing
from ..words.text import NAME_LIMIT, one_line
from ..words.wording import say
from .reviews import Reason, reasons
from .stage_views import State, state


class MistakeSummary(NamedTuple):
    """One that was recognised."""

    id: str
    title: str
    stage: str


@dataclass(frozen=True)
class Summary:
    """One result. The first two names are as they stand in the record, all other text is cleaned.

    ``name`` is how the submission is shown: apart from others that look like it.
    """

    submission: str
    assignment: str
    name: str
    status: Status
    measured: Score
    score: Score  # after what was decided
    stages: Mapping[str, tuple[str, State]]  # label to title and state
    checks: Mapping[str, Score]  # stage, or first word of the ids, to the points of these checks
    mistakes: tuple[MistakeSummary, ...]
    tone: str
    brief: str
    remark: str
    lateness: str
    unjudged: bool  # do its points mean nothing?
    proven: bool | None  # is all else right once what is blamed is? None where that was not tried
    to_mark: bool  # are there answers in writing?
    marked: Mapping[str, bool]  # of those that have points, whether somebody gave any
    reviews: tuple[Reason, ...]

    @property
    def link(self) -> str:
        """Its page, seen from the folder of the class."""
        return f"{quote(self.submission, safe='')}/report.html"

    @property
    def percent(self) -> float:
        """The share of the points possible, from 0 to 100 even where points were added or taken away."""
        share = self.score.earned / self.score.possible if self.score.possible else 0.0
        return 100 * min(max(share, 0.0), 1.0)


def summaries(results: Iterable[Result]) -> list[Summary]:
    """Sorted by name, the order of rows in everything about a class; of the results nothing else is kept."""
    found = [_summary(one) for one in results]
    return _told_apart(sorted(found, key=lambda one: (one.submission.casefold(), one.submission)))


def _told_apart(rows: list[Summary]) -> list[Summary]:
    """Names that look alike get a number, and a person is asked to look."""
    groups = alike(one.submission for one in rows)
    return [_numbered(one, groups[one.submission]) if one.submission in groups else one for one in rows]


def _numbered(row: Summary, group: Sequence[str]) -> Summary:
    place = group.index(row.submission)
    others = ", ".join(spelled_out(one) for one in group if one != row.submission)
    text = say("review.spelled", name=spelled_out(row.submission), others=others)
    name = say("review.numbered", name=row.name, number=place + 1, all=len(group))
    return replace(row, name=name, reviews=(*row.reviews, Reason("alike", one_line(text))))


def _summary(result: Result) -> Summary:
    stands = standing(result)
    return Summary(
        submission=result.submission,
        assignment=result.assignment,
        name=one_line(result.submission, NAME_LIMIT),
        status=result.status,
        measured=result.score,
        score=grade(result),
        stages={
            one_line(label): (one_line(stage.title), state(stage)) for label, stage in result.stages.items()
        },
        checks=_sums(result.checks),
        mistakes=tuple(
            MistakeSummary(one_line(one.id), one_line(one.title), one_line(one.stage))
            for one in result.mistakes
        ),
        tone=stands.tone,
        brief=stands.brief,
        remark=remark(result.adjustment),
        reviews=reasons(result),
        lateness=late_text(result),
        unjudged=result.unjudged,
        proven=result.proof.proven if result.proof else None,
        marked={
            one_line(one.id): one.id in result.adjustment.marks
            for one in (result.written.answers if result.written else ())
            if one.answer and one.points
        },
        to_mark=bool(result.written and any(one.answer for one in result.written.answers)),
    )


def _sums(checks: Iterable[CheckResult]) -> dict[str, Score]:
    sums: dict[str, Score] = {}
    for check in checks:
        name = one_line(check.stage or re.split(r"[^\w-]", check.id, maxsplit=1)[0])
        before = sums.get(name, Score(earned=0.0, possible=0.0))
        sums[name] = Score(earned=before.earned + check.earned, possible=before.possible + check.points)
    return sums
