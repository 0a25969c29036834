"""How a submission stands, in a few words: what people read first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...checks.record.faults import failed_checks, given_away, to_write
from ...checks.record.result import CheckResult, Outcome, Result, StageResult, StageStatus, Status
from ...checks.record.snapshot import Record, named_mistake
from .location_view import LocationView, place, shapes_at
from .text import NAME_LIMIT, clean, one_line, sentence
from .wording import count, say


@dataclass(frozen=True)
class Standing:
    """The first thing to know: that all is right, the first thing wrong, or why nothing could be graded."""

    tone: str  # right | unfinished | wrong | stopped
    heading: str
    sentence: str
    brief: str  # for a cell of a table; empty if all is right
    details: str = ""
    advice: str = ""  # what to do, if nothing could be graded
    question: str = ""
    place: LocationView | None = None
    anchor: str = ""  # of the stage or check that it is about
    label: str = ""  # of the stage, if it is about one
    mistake: str = ""  # the id of a known one
    quotes: bool = False  # may the sentence hold words of the student?


_DETAILS = 800  # characters of a message: the stage itself shows all of it


def standing(result: Result) -> Standing:
    """Read off the record: status first, then the first failed stage, then the first failed check."""
    return next(findings(result), None) or _unfinished(result) or _right(result)


def findings(result: Result) -> Iterator[Standing]:
    """Everything wrong, in that order; checks of a failed stage are no more than that."""
    yield from pass_findings(result)
    for check in failed_checks(result):
        stage = result.stages.get(check.stage or "")
        if stage is None or stage.status is not StageStatus.FAILED:
            yield _wrong_check(result, check)


def pass_findings(record: Record) -> Iterator[Standing]:
    """The same without checks: why there was no pass, and each stage of it that is wrong."""
    if record.status is not Status.GRADED:
        yield _stopped(record)
    for label, stage in record.stages.items():
        if stage.status is StageStatus.FAILED:
            yield _wrong_stage(record, label, stage)


def _stopped(result: Record) -> Standing:
    heading = say(f"stopped.{result.status.value}")
    return Standing(
        "stopped",
        heading,
        sentence(result.reason or heading),
        brief=say(f"status.{result.status.value}"),
        advice=say(f"stopped.{result.status.value}_advice"),
        place=place(result.location),
        quotes=True,
    )


def _wrong_stage(result: Record, label: str, stage: StageResult) -> Standing:
    named = named_mistake(result, label, stage)
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
        mistake=one_line(named.id) if named else "",
        anchor=one_line(f"stage-{label}"),
    )


def _unnamed(stage: StageResult) -> str:
    if stage.shape is None:
        return say("standing.crashed" if stage.crashed else "standing.absent")
    return say("standing.unexplained" if stage.shape == stage.expected_shape else "standing.other_shape")


def _wrong_check(result: Result, check: CheckResult) -> Standing:
    """What it gives away is told by its name; else by the check's own heading."""
    named = given_away(result, check)
    heading = sentence(named.title).rstrip(".") if named else check_heading(result, check)
    return Standing(
        "wrong",
        one_line(heading),
        sentence(check.message or say("standing.check", outcome=say(f"outcome.{check.outcome.value}"))),
        brief=one_line(named.id if named else heading, NAME_LIMIT),
        question=one_line(named.hint) if named else "",
        place=place(named.location) if named else None,
        mistake=one_line(named.id) if named else "",
        anchor="checks",
        quotes=True,
    )


def check_heading(result: Result, check: CheckResult) -> str:
    """What tells of a check that did not pass: its title says what holds where it passes."""
    about = result.stages.get(check.stage or "")
    subject = f"{check.stage} {about.title}" if about else ""
    if check.failing:
        return f"{subject}: {check.failing}" if subject else check.failing
    title = check.title.rstrip(".")
    told = f"{subject} ({title})" if subject else title
    return say(f"ended.{check.outcome.value}", title=told)


def _unfinished(result: Result) -> Standing | None:
    labels = to_write(result)
    if not labels:
        return None
    done = [label for label, one in result.stages.items() if one.status is StageStatus.PASSED]
    heading = say("unfinished.heading", done=runs(done)) if done else say("unfinished.nothing")
    first, title = one_line(labels[0]), one_line(result.stages[labels[0]].title)
    return Standing(
        "unfinished",
        one_line(heading),
        say("unfinished.next", label=runs(labels), first=first, title=title),
        brief=say("unfinished.brief", label=first),
        place=place(result.unwritten),
        anchor=f"stage-{first}",
        label=first,
    )


def runs(labels: Sequence[str]) -> str:
    """Such as "S01 to S07, S12", of labels in order: those that follow each other make a run."""
    parts: list[list[str]] = []
    for label in labels:
        if parts and _number(label) == _number(parts[-1][-1]) + 1:
            parts[-1].append(label)
        else:
            parts.append([label])
    return one_line(", ".join(one[0] if len(one) == 1 else f"{one[0]} to {one[-1]}" for one in parts))


def _number(label: str) -> int:
    digits = "".join(one for one in label if one.isdigit())
    return int(digits or 0)


def _right(result: Result) -> Standing:
    stages = sum(stage.status is StageStatus.PASSED for stage in result.stages.values())
    ended = [one.outcome for one in result.checks]
    skipped = ended.count(Outcome.SKIPPED)
    key = "right.stages_and_checks" if stages else "right.checks"
    looked_at = say(key, stages=stages, checks=count(ended.count(Outcome.PASSED), "check"))
    rest = say("right.skipped", checks=count(skipped, "check")) if skipped else ""
    return Standing("right", say("right.heading"), f"{looked_at} {rest}".strip(), brief="")


def so_far(result: Result) -> float:
    """The points of the checks that could be asked of what is written."""
    return sum(one.points for one in result.checks if one.outcome is not Outcome.NOT_REACHED)
