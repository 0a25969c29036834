"""What vitcheck says of a generated program, as far as it is counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...record.faults import failed_checks, given_away, to_write
from ...record.result import (
    CheckResult,
    Evidence,
    Location,
    Outcome,
    Result,
    StageResult,
    StageStatus,
    Status,
)
from ...record.snapshot import named_mistake

GRADER_FAILED = "grader_failed"
# a record has no field for whose fault an errored check is: where it is the grader's own, its message begins
# with the exception's name (see running.py), and where the submission's process ended, it is a sentence
_EXCEPTION = re.compile(r"[A-Za-z_]\w*: ")
_FAILED = (Outcome.FAILED, Outcome.ERRORED, Outcome.TIMED_OUT)


@dataclass(frozen=True)
class ProgramVerdict:
    """What a result says of a program. The first is what a student reads first: a stage, else a check."""

    status: str
    lost: float = 0.0
    located: tuple[str, ...] = ()  # labels of the stages that were found, or follow from what was found
    unreached: bool = False  # is there a stage that was not?
    stages: tuple[str, ...] = ()  # labels of those that are wrong
    named: tuple[str, ...] = ()
    first_stage: str = ""  # "" where it is none
    first_named: str = ""  # "" where it is not named
    variants: tuple[str, ...] = ()
    line: int | None = None  # that is shown of the first
    tried: bool = False  # was anything put right where it is said to be wrong?
    proven: tuple[str, ...] = ()  # labels of the stages with which all else is right, where that is so
    unfinished: bool = False  # it says that something is not written yet
    late: bool = False  # it, or a check of it, ran out of time
    cause: str = ""  # the first, without what differs from program to program

    @property
    def graded(self) -> bool:
        return self.status == Status.GRADED.value

    @property
    def complains(self) -> bool:
        return not self.graded or bool(self.stages or self.named or self.lost)


@dataclass(frozen=True)
class _First:
    stage: str = ""
    named: str = ""
    place: Location | None = None
    cause: str = ""


def verdict_on(result: Result) -> ProgramVerdict:
    """What is counted of a result."""
    first = next(_wrong(result), _First())
    return ProgramVerdict(
        status=GRADER_FAILED if _own_fault(result) else result.status.value,
        lost=round(result.score.possible - result.score.earned, 2),
        located=tuple(label for label, one in result.stages.items() if _located(one)),
        unreached=any(one.status is StageStatus.NOT_REACHED for one in result.stages.values()),
        stages=tuple(label for label, one in result.stages.items() if one.status is StageStatus.FAILED),
        named=tuple(one.id for one in result.mistakes),
        first_stage=first.stage,
        first_named=first.named,
        variants=tuple(one.id for one in result.variants),
        line=first.place.line if first.place else None,
        tried=result.proof is not None,
        proven=tuple(result.proof.cured) if result.proof and result.proof.proven else (),
        unfinished=bool(to_write(result)),
        late=result.status is Status.TIMED_OUT
        or any(one.outcome is Outcome.TIMED_OUT for one in result.checks),
        cause=first.cause,
    )


def _located(stage: StageResult) -> bool:
    judged = stage.status in (StageStatus.PASSED, StageStatus.FAILED)
    return judged and stage.evidence is not Evidence.ABSENT


def _own_fault(result: Result) -> bool:
    errored = (one for one in result.checks if one.outcome is Outcome.ERRORED)
    return any(_EXCEPTION.match(one.message) for one in errored)


def _wrong(result: Result) -> Iterator[_First]:
    """Everything wrong, in the order of the reports: status, stages, checks. A test compares the two."""
    if result.status is not Status.GRADED:
        cause = f"{result.status.value}: {common(result.reason or '')}"
        yield _First(place=result.location, cause=cause)
    for label, stage in result.stages.items():
        if stage.status is StageStatus.FAILED:
            yield _wrong_stage(result, label, stage)
    for check in failed_checks(result):
        yield _wrong_check(result, check)


def _wrong_stage(result: Result, label: str, stage: StageResult) -> _First:
    named = named_mistake(result, label, stage)
    place = stage.location or (named.location if named else None)
    cause = f"{label} {named.id}" if named else f"{label}: {common(stage.message or '')}"
    return _First(label, named.id if named else "", place, cause)


def _wrong_check(result: Result, check: CheckResult) -> _First:
    """A check of the whole model has the mistake that its property gave away; all of those are shown."""
    named = given_away(result, check)
    if named is None:
        return _First(cause=f"{check.id}: {common(check.message)}")
    return _First("", named.id, named.location, f"{check.id} {named.id}")


def common(text: str) -> str:
    """The first line in words that are the same for programs that differ in names and numbers alone."""
    said = re.sub(
        r"`[^`]*`|'[^']*'|\"[^\"]*\"|\b\w+\.(py|ipynb)\b|\d+([.,]\d+)*(e-?\d+)?", "…", text.split("\n")[0]
    )
    return said[:120]
