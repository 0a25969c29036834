"""How a submission stands, in a few words: what people read first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..checks.result import (
    CheckResult,
    MistakeResult,
    Outcome,
    Record,
    Result,
    StageResult,
    StageStatus,
    Status,
)
from .places import Place, place, shapes_at
from .text import NAME_LIMIT, clean, one_line, sentence
from .wording import say


@dataclass(frozen=True)
class Standing:
    """The first thing to know: that all is right, the first thing wrong, or why nothing could be graded."""

    tone: str  # right | wrong | stopped
    heading: str
    sentence: str
    brief: str  # for a cell of a table; empty if all is right
    details: str = ""
    advice: str = ""  # what to do, if nothing could be graded
    question: str = ""
    place: Place | None = None
    anchor: str = ""  # of the stage or check that it is about
    label: str = ""  # of the stage, if it is about one


_DETAILS = 800  # characters of a message: the stage itself shows all of it


def standing(result: Result) -> Standing:
    """Read off the record: status first, then the first failed stage, then the first failed check."""
    if stands := pass_standing(result):
        return stands
    if check := next(failed_checks(result), None):
        return _wrong_check(result, check)
    return _right(result)


def pass_standing(record: Record) -> Standing | None:
    """The same without checks: None where there was a pass, and no stage of it is wrong."""
    if record.status is not Status.GRADED:
        return _stopped(record)
    failed = (label for label, stage in record.stages.items() if stage.status is StageStatus.FAILED)
    label = next(failed, None)
    return None if label is None else _wrong_stage(record, label, record.stages[label])


def failed_checks(result: Result) -> Iterator[CheckResult]:
    """The checks that did not pass, although they were asked."""
    return (one for one in result.checks if one.outcome not in (Outcome.PASSED, Outcome.SKIPPED))


def _stopped(result: Record) -> Standing:
    heading = say(f"stopped.{result.status.value}")
    return Standing(
        "stopped",
        heading,
        sentence(result.reason or heading),
        brief=result.status.value.replace("_", " "),
        advice=say(f"stopped.{result.status.value}_advice"),
        place=place(result.location),
    )


def _wrong_stage(result: Record, label: str, stage: StageResult) -> Standing:
    named = _named(result, label, stage)
    name = named.id if named else stage.title
    return Standing(
        "wrong",
        one_line(f"{label}: {stage.title}"),
        sentence(named.title) if named else _unnamed(stage),
        brief=one_line(f"{label} {name}", NAME_LIMIT),
        details=clean(stage.message or "", _DETAILS),
        question=one_line(stage.hint or (named.hint if named else "")),
        place=place(stage.location or (named.location if named else None), shapes_at(result)),
        label=one_line(label),
        anchor=one_line(f"stage-{label}"),
    )


def _unnamed(stage: StageResult) -> str:
    if stage.shape is None:
        return say("standing.absent")
    return say("standing.unexplained" if stage.shape == stage.expected_shape else "standing.other_shape")


def _named(result: Record, label: str, stage: StageResult) -> MistakeResult | None:
    """The most specific mistake known of the stage."""
    listed = [one for name in stage.mistakes for one in result.mistakes if one.id == name]
    return next(iter([*listed, *(one for one in result.mistakes if one.stage == label)]), None)


def _wrong_check(result: Result, check: CheckResult) -> Standing:
    named = next((one for one in result.mistakes if one.stage == check.id), None)
    brief = f"{check.title}: {named.id}" if named else check.title
    return Standing(
        "wrong",
        one_line(check.title),
        sentence(check.message or f"this check {check.outcome.value.replace('_', ' ')}"),
        brief=one_line(brief, NAME_LIMIT),
        question=one_line(named.hint) if named else "",
        place=place(named.location) if named else None,
        anchor="checks",
    )


def _right(result: Result) -> Standing:
    passed = sum(stage.status is StageStatus.PASSED for stage in result.stages.values())
    looked_at = say(
        "right.stages_and_checks" if passed else "right.checks", stages=passed, checks=len(result.checks)
    )
    return Standing("right", say("right.heading"), looked_at, brief="")
