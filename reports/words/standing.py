"""How a submission stands, in a few words: what people read first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...checks.record.faults import failed_checks, given_away, to_write, wrong_together
from ...checks.record.result import CheckResult, Outcome, Result, StageResult, StageStatus, Status
from ...checks.record.snapshot import Record, named_mistake
from .got import got
from .location_view import LocationView, place, shapes_at
from .proofs import proof_text
from .text import NAME_LIMIT, one_line, sentence
from .wording import count, say


@dataclass(frozen=True)
class Standing:
    """The first thing to know: that all is right, the first thing wrong, or why nothing could be graded."""

    tone: str  # right | unfinished | wrong | stopped
    heading: str
    sentence: str
    brief: str  # for a cell of a table; empty if all is right
    details: str = ""
    proof: str = ""  # what becomes of the rest once this is right
    advice: str = ""  # what to do, if nothing could be graded
    question: str = ""
    place: LocationView | None = None
    anchor: str = ""  # of the stage or check that it is about
    label: str = ""  # of the stage, if it is about one
    mistake: str = ""  # the id of a known one
    quotes: bool = False  # may the sentence hold words of the student?
    about: str = ""  # label and title of its stage, or what should hold

    @property
    def claim(self) -> str:
        """What is wrong, in a few words: the mistake, not the stage that it is made at or the check."""
        return self.sentence.rstrip(".") if self.claims_sentence else self.heading

    @property
    def claims_sentence(self) -> bool:
        return self.tone == "wrong" and (self.label != "" or self.mistake == "")


def standing(result: Result) -> Standing:
    """Read off the record: status first, then the first failed stage, then the first failed check."""
    return next(findings(result), None) or _unfinished(result) or _right(result)


def findings(result: Result) -> Iterator[Standing]:
    """Everything wrong, in that order, each once: no checks of a failed stage, and no symptoms."""
    of_pass = list(pass_findings(result))
    yield from of_pass
    told = {one.mistake for one in of_pass}
    for check in _other_checks(result):
        named = given_away(result, check)
        fault = named.id if named else f"{check.part} {check.message or check.id}"
        if not (named is None and _may_follow(result, check)) and fault not in told:
            yield _wrong_check(result, check)
        told.add(fault)


def symptoms(result: Result) -> Iterator[CheckResult]:
    """The checks of the whole model that fail as well, and may do so for what ``findings`` tells."""
    asked = (one for one in _other_checks(result) if one.outcome is not Outcome.NOT_REACHED)
    return (one for one in asked if given_away(result, one) is None and _may_follow(result, one))


def _other_checks(result: Result) -> Iterator[CheckResult]:
    for check in failed_checks(result):
        stage = result.stages.get(check.stage or "")
        if stage is None or stage.status is not StageStatus.FAILED:
            yield check


def _may_follow(result: Result, check: CheckResult) -> bool:
    """Whether something that has a name or a place is wrong, which this check may only show again."""
    stopped = result.status is not Status.GRADED
    is_wrong = stopped or any(one.status is StageStatus.FAILED for one in result.stages.values())
    of_model = check.id.startswith("property[")
    named = any(given_away(result, one) for one in failed_checks(result))
    return (is_wrong and (of_model or check.outcome is Outcome.NOT_REACHED)) or (of_model and named)


def pass_findings(record: Record) -> Iterator[Standing]:
    """The same without checks: why there was no pass, and what of it is wrong, each line once."""
    if record.status is not Status.GRADED:
        yield _stopped(record)
    for labels in wrong_together(record):
        yield _wrong_stage(record, labels)


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


def _wrong_stage(result: Record, labels: Sequence[str]) -> Standing:
    """The first of those that are wrong together."""
    label, stage = labels[0], result.stages[labels[0]]
    named = named_mistake(result, label, stage)
    name = named.id if named else stage.title
    return Standing(
        "wrong",
        one_line(f"{label}: {stage.title}"),
        sentence(named.title) if named else _unnamed(stage),
        brief=one_line(f"{label} {name}", NAME_LIMIT),
        details=got(stage),
        proof=proof_text(result, labels),
        question=one_line(stage.hint or (named.hint if named else "")),
        place=place(stage.location or (named.location if named else None), shapes_at(result)),
        label=one_line(label),
        mistake=one_line(named.id) if named else "",
        anchor=one_line(f"stage-{label}"),
        about=one_line(f"{label} {stage.title}{_also(labels[1:])}"),
    )


def _also(labels: Sequence[str]) -> str:
    return say("standing.also", labels=", ".join(labels)) if labels else ""


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
        about=_asked(result, check),
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


def _asked(result: Result, check: CheckResult) -> str:
    stage = result.stages.get(check.stage or "")
    of = f"{check.stage} {stage.title}" if stage else say("standing.asked")
    return one_line(f"{of}: {check.title}")


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
    heading = say("right.so_far" if result.later else "right.heading")
    return Standing("right", heading, f"{looked_at} {rest}".strip(), brief="")


def so_far(result: Result) -> float:
    """The points of the checks that could be asked of what is written."""
    return sum(one.points for one in result.checks if one.outcome is not Outcome.NOT_REACHED)
