"""How a submission stands, in a few words: what people read first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..checks.result import (
    CheckResult,
    MistakeResult,
    Outcome,
    Result,
    StageResult,
    StageStatus,
    Status,
)
from .places import Place, place, shapes_at
from .text import NAME_LIMIT, clean, count, one_line, sentence


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


_STOPPED = {
    Status.NOT_LOADED: (
        "The code could not be loaded",
        "Open it in a fresh Python process (for a notebook: restart the kernel and run all cells), "
        "and hand it in again once that works.",
    ),
    Status.CRASHED: (
        "The code ended the Python process",
        "Look for a call that leaves Python, such as exit() or quit(), and build and call the model once "
        "in a fresh process.",
    ),
    Status.TIMED_OUT: (
        "The code ran for too long",
        "Look for a loop that never ends, and for training or downloads that begin when the file is "
        'imported: move those under if __name__ == "__main__".',
    ),
    Status.OUT_OF_MEMORY: (
        "The code needed too much memory",
        "Print the shape of the largest tensors for one small image, and ask which of them grows faster than "
        "it should.",
    ),
    Status.REFUSED: (
        "The submission went beyond a limit",
        "Remove what the sentence above names, and hand in the code alone.",
    ),
}

_DETAILS = 800  # characters of a message: the stage itself shows all of it
_UNEXPLAINED = "The numbers are not what the equation predicts, and no known mistake explains them."


def standing(result: Result) -> Standing:
    """Read off the record: status first, then the first failed stage, then the first failed check."""
    if result.status is not Status.GRADED:
        return _stopped(result)
    failed = (label for label, stage in result.stages.items() if stage.status is StageStatus.FAILED)
    if label := next(failed, None):
        return _wrong_stage(result, label, result.stages[label])
    if check := next(failed_checks(result), None):
        return _wrong_check(result, check)
    return _right(result)


def failed_checks(result: Result) -> Iterator[CheckResult]:
    """The checks that did not pass, although they were asked."""
    return (one for one in result.checks if one.outcome not in (Outcome.PASSED, Outcome.SKIPPED))


def _stopped(result: Result) -> Standing:
    heading, advice = _STOPPED[result.status]
    return Standing(
        "stopped",
        heading,
        sentence(result.reason or heading),
        brief=result.status.value.replace("_", " "),
        advice=advice,
        place=place(result.location),
    )


def _wrong_stage(result: Result, label: str, stage: StageResult) -> Standing:
    named = _named(result, label, stage)
    name = named.id if named else stage.title
    return Standing(
        "wrong",
        one_line(f"{label}: {stage.title}"),
        sentence(named.title) if named else _UNEXPLAINED,
        brief=one_line(f"{label} {name}", NAME_LIMIT),
        details=clean(stage.message or "", _DETAILS),
        question=one_line(stage.hint or (named.hint if named else "")),
        place=place(stage.location or (named.location if named else None), shapes_at(result)),
        label=one_line(label),
        anchor=one_line(f"stage-{label}"),
    )


def _named(result: Result, label: str, stage: StageResult) -> MistakeResult | None:
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
    stages = f"{count(passed, 'stage')} and " if passed else ""
    what = f"{stages}{count(len(result.checks), 'check')}"
    return Standing("right", "Nothing wrong was found", f"Looked at {what}.", brief="")
