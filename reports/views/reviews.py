"""Why a person should look at a submission."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...checks.record.result import Result, StageStatus, Status
from ...checks.record.snapshot import named_mistake
from ..words.lateness import late_text
from ..words.remarks import remark
from ..words.standing import standing
from ..words.text import one_line
from ..words.wording import say

KINDS = (  # most urgent first; each has a title in the catalogue's table "review"
    "grader_failed",
    "crashed",
    "timed_out",
    "out_of_memory",
    "refused",
    "not_loaded",
    "unexplained",
    "outdated",
    "alike",
    "late",
    "adjusted",
)


@dataclass(frozen=True)
class Reason:
    """One of ``KINDS``, and what the record says of it."""

    kind: str
    text: str


def reasons(result: Result) -> tuple[Reason, ...]:
    """All there are: none for most submissions."""
    return tuple(_reasons(result))


def _reasons(result: Result) -> Iterator[Reason]:
    if result.status is not Status.GRADED:
        kind = "grader_failed" if result.unjudged else result.status.value
        yield Reason(kind, standing(result).sentence)
    if unexplained := ", ".join(_unexplained(result)):
        yield Reason("unexplained", say("review.stages", stages=unexplained))
    if result.lateness and result.lateness.minutes:
        yield Reason("late", late_text(result))
    if decided := remark(result.adjustment):
        yield Reason("outdated" if result.outdated else "adjusted", decided)


def _unexplained(result: Result) -> Iterator[str]:
    for label, stage in result.stages.items():
        if stage.status is StageStatus.FAILED and named_mistake(result, label, stage) is None:
            yield one_line(f"{label} {stage.title}")
