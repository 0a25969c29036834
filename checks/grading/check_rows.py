"""The rows of the result record that tell how checks ended. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..architecture.family import Family
from ..assignment.kinds import judges_stage
from ..record.result import CheckResult, Outcome
from ..record.sentences import as_sentence

if TYPE_CHECKING:
    from ..examining.verdicts import CheckOutcome


def check_rows(family: Family, outcomes: Sequence[CheckOutcome]) -> list[CheckResult]:
    """A row for each of ``outcomes``, without points."""
    return [
        CheckResult(
            id=one.id,
            stage=label_of(family, one.stage),
            judges=judges_stage(one.id),
            title=one.title,
            failing=one.failing if one.outcome == "failed" else "",
            outcome=Outcome(one.outcome),
            asked=one.asked,
            points=0,
            earned=0,
            message=_message(one, family),
            mistakes=[*one.mistakes],
            counterexample=None if one.counterexample is None else dict(one.counterexample),
        )
        for one in outcomes
    ]


def _message(outcome: CheckOutcome, family: Family) -> str:
    """At a stage the mistake's title first; a property alone does not prove its mistake."""
    if not outcome.stage or not outcome.mistakes:
        return outcome.message
    title = family.mistakes[outcome.mistakes[0]].title
    return f"{as_sentence(title)} {as_sentence(outcome.message)}".strip()


def label_of(family: Family, key: str | None) -> str | None:
    """``S12`` of ``attention_scores``; None where the architecture has no such stage."""
    return next((one.label for one in family.stages if one.key == key), None)
