"""The result record, put together from what was examined and how the checks ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...submissions.errors import Frame, SubmissionError
from ...submissions.questions.loading import Skipped
from ...submissions.reading.source import Source
from ...submissions.reading.surroundings import questions
from ..architecture.family import Family
from ..assignment.assignment import Assignment
from ..examining.examination import Examination
from ..examining.placing import location
from ..examining.verdicts import CheckOutcome
from ..parts.exercise_judging import exercises_of
from ..parts.in_progress import written_parts
from ..parts.parts import parts_of
from ..parts.parts_record import exercise_mistakes, exercise_variants
from ..points.scoring import scored
from ..record.result import (
    CheckResult,
    Location,
    Note,
    Outcome,
    Result,
    Run,
    Score,
    Status,
)
from ..record.sentences import as_sentence
from ..written.examining import Written
from .arrays import kept_arrays
from .named_rows import label_of, mistake_results, property_results, variant_results
from .stage_rows import stage_results

_NO_POINTS = Score(earned=0, possible=0)  # yet


@dataclass(frozen=True)
class Notes:
    """What was left out when the files were executed, and what was inferred of the model."""

    skipped: tuple[Skipped, ...] = ()
    inferred: tuple[str, ...] = ()


def graded(
    name: str,
    examination: Examination,
    outcomes: Sequence[CheckOutcome],
    notes: Notes,
    run: Run,
    written: Written | None = None,
) -> Result:
    """The record of a submission whose checks have run."""
    outcomes = [*outcomes, *(written.outcomes() if written else ())]
    family = examination.family
    models = [examination] if examination.assignment.architectures else []
    components = [*parts_of(examination).components, *dict.fromkeys(written_parts(examination).values())]
    exercises = exercises_of(examination)
    findings = [found for one in (*models, *components) for found in mistake_results(one, outcomes)]
    findings += exercise_mistakes(exercises)
    findings += property_results(outcomes, examination.source, {one.id for one in findings}, family)
    stages = stage_results(examination, outcomes)
    found = Result(
        schema=1,
        submission=name,
        assignment=examination.assignment.name,
        status=Status.GRADED,
        score=_NO_POINTS,
        architecture=next((one.architecture for one in (*models, *components) if one.architecture), None),
        stages=stages,
        unwritten=_unwritten(examination),
        checks=_checks(family, outcomes),
        mistakes=findings,
        variants=[
            *(found for one in (*models, *components) for found in variant_results(one)),
            *exercise_variants(exercises),
        ],
        notes=[*_notes(notes, examination.source), *_left_out(*models, *components)],
        written=written.record(stages) if written else None,
        run=run,
        arrays=kept_arrays([*models, *components]),
    )
    return scored(found, examination.assignment)


def _unwritten(examination: Examination) -> Location | None:
    found = examination.unfinished
    return location(found.frame, examination.source) if found and found.frame else None


def not_graded(
    name: str,
    assignment: Assignment,
    error: SubmissionError,
    source: Source | None,
    notes: Notes,
    run: Run,
    written: Written | None = None,
) -> Result:
    """The record of a submission that ended before its checks could run; what is written counts anyway."""
    where = None if error.frame is None else location(error.frame, source)
    found = Result(
        schema=1,
        submission=name,
        assignment=assignment.name,
        status=Status(error.status),
        reason=error.reason,
        location=where,
        score=_NO_POINTS,
        checks=_checks(assignment.family, written.outcomes() if written else ()),
        notes=_notes(notes, source),
        written=written.record({}) if written else None,
        run=run,
    )
    return scored(found, assignment)


def _checks(family: Family, outcomes: Sequence[CheckOutcome]) -> list[CheckResult]:
    return [
        CheckResult(
            id=one.id,
            stage=label_of(family, one.stage),
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


def _left_out(*examinations: Examination) -> list[Note]:
    """Of what is unfinished nothing is said that only a whole model can have."""
    whole = (one for one in examinations if not one.unfinished)
    return [Note(kind="inferred", text=text) for one in whole for text in one.left_out]


def _notes(notes: Notes, source: Source | None) -> list[Note]:
    inferred = [Note(kind="inferred", text=text) for text in notes.inferred]
    inferred += [Note(kind="skipped", text=f"not read: {one}") for one in (source.left if source else ())]
    skipped = [
        Note(
            kind="skipped",
            text=f"{left.text} — {left.reason}",
            location=location(Frame(left.file, left.line), source),
        )
        for left in notes.skipped
    ]
    return [*inferred, *skipped, *(_asked(source) if source is not None else ())]


def _asked(source: Source) -> list[Note]:
    """What the code asks of the program that it runs in, for a person to look at: it costs nothing."""
    return [
        Note(
            kind="asks",
            text=f"{one.what} is asked for: check whether the code behaves differently while it is graded",
            location=location(one.frame, source),
        )
        for one in questions(source.files)
    ]
