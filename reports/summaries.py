"""What is shown of one result about a class: little of it, so that thousands have room in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from ..checks.adjustment import UNADJUSTED, Adjustment
from ..checks.result import CheckResult, Result, Score, Status
from .remarks import adjusted, remark
from .stages import State, state
from .standing import standing

NOTHING_DECIDED: Mapping[str, Adjustment] = MappingProxyType({})


class Mistake(NamedTuple):
    """One that was recognised."""

    id: str
    title: str
    stage: str


@dataclass(frozen=True)
class Summary:
    """One result; text is as it stands in the record, but for the last three, which are cleaned."""

    submission: str
    assignment: str
    status: Status
    measured: Score
    score: Score  # after what was decided
    stages: Mapping[str, tuple[str, State]]  # label to title and state
    checks: Mapping[str, Score]  # stage, or first word of the ids, to the points of these checks
    mistakes: tuple[Mistake, ...]
    tone: str
    brief: str
    remark: str
    to_mark: bool  # are there answers in writing?


def summaries(
    results: Iterable[Result], adjustments: Mapping[str, Adjustment] = NOTHING_DECIDED
) -> list[Summary]:
    """Sorted by name, the order of rows in everything about a class; of the results nothing else is kept."""
    found = [_summary(one, adjustments.get(one.submission, UNADJUSTED)) for one in results]
    return sorted(found, key=lambda one: (one.submission.casefold(), one.submission))


def _summary(result: Result, adjustment: Adjustment) -> Summary:
    stands = standing(result)
    return Summary(
        submission=result.submission,
        assignment=result.assignment,
        status=result.status,
        measured=result.score,
        score=adjusted(result.score, adjustment),
        stages={label: (stage.title, state(stage)) for label, stage in result.stages.items()},
        checks=_sums(result.checks),
        mistakes=tuple(Mistake(one.id, one.title, one.stage) for one in result.mistakes),
        tone=stands.tone,
        brief=stands.brief,
        remark=remark(adjustment),
        to_mark=bool(result.written and any(one.answer for one in result.written.answers)),
    )


def _sums(checks: Iterable[CheckResult]) -> dict[str, Score]:
    sums: dict[str, Score] = {}
    for check in checks:
        name = check.stage or re.split(r"[^\w-]", check.id, maxsplit=1)[0]
        before = sums.get(name, Score(earned=0.0, possible=0.0))
        sums[name] = Score(earned=before.earned + check.earned, possible=before.possible + check.points)
    return sums
