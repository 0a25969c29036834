"""The result record, put together from what was examined and how the checks ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from .forgiving import forgiven, unearned
from .named_rows import label_of, mistake_results, property_results, variant_results
from .stage_rows import stage_results


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
    ended = [*outcomes, *(written.outcomes() if written else ())]
    points = examination.assignment.points_of([one.id for one in ended])
    outcomes = forgiven(points, ended)
    family = examination.family
    checks = _checks(examination.assignment, points, outcomes)
    models = [examination] if examination.assignment.architectures else []
    components = [*parts_of(examination).components, *dict.fromkeys(written_parts(examination).values())]
    exercises = exercises_of(examination)
    findings = [found for one in (*models, *components) for found in mistake_results(one)]
    findings += exercise_mistakes(exercises)
    findings += property_results(outcomes, examination.source, {one.id for one in findings}, family)
    stages = stage_results(examination, outcomes)
    return Result(
        schema=1,
        submission=name,
        assignment=examination.assignment.name,
        asked=examination.assignment.asked,
        status=Status.GRADED,
        score=_score(points, outcomes, examination.assignment.possible_by_hand),
        architecture=next((one.architecture for one in (*models, *components) if one.architecture), None),
        stages=stages,
        unwritten=_unwritten(examination),
        checks=checks,
        mistakes=findings,
        variants=[
            *(found for one in (*models, *components) for found in variant_results(one)),
            *exercise_variants(exercises),
        ],
        notes=[
            *unearned(points, ended, outcomes),
            *_notes(notes, examination.source),
            *_left_out(*models, *components),
        ],
        written=written.record(stages) if written else None,
        run=run,
        arrays=kept_arrays([*models, *components]),
    )


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
    ended = written.outcomes() if written else []
    points = assignment.points_of([one.id for one in ended])
    outcomes = forgiven(points, ended)
    earned = _score(points, outcomes, 0.0).earned
    where = None if error.frame is None else location(error.frame, source)
    return Result(
        schema=1,
        submission=name,
        assignment=assignment.name,
        asked=assignment.asked,
        status=Status(error.status),
        reason=error.reason,
        location=where,
        score=Score(earned=earned, possible=assignment.possible),
        checks=_checks(assignment, points, outcomes),
        notes=[*unearned(points, ended, outcomes), *_notes(notes, source)],
        written=written.record({}) if written else None,
        run=run,
    )


def _checks(
    assignment: Assignment, points: Mapping[str, float], outcomes: Sequence[CheckOutcome]
) -> list[CheckResult]:
    return [
        CheckResult(
            id=one.id,
            stage=label_of(assignment.family, one.stage),
            title=one.title,
            failing=one.failing if one.outcome == "failed" else "",
            outcome=Outcome(one.outcome),
            points=round(points[one.id], 4),
            earned=round(points[one.id], 4) if one.outcome == "passed" else 0.0,
            message=_message(one, assignment.family),
            mistakes=[*one.mistakes],
            counterexample=None if one.counterexample is None else dict(one.counterexample),
            visibility=assignment.visibility_of(one.id),
        )
        for one in outcomes
    ]


def _message(outcome: CheckOutcome, family: Family) -> str:
    """At a stage the mistake's title first; a property alone does not prove its mistake."""
    if not outcome.stage or not outcome.mistakes:
        return outcome.message
    title = family.mistakes[outcome.mistakes[0]].title
    return f"{as_sentence(title)} {as_sentence(outcome.message)}".strip()


def _score(points: Mapping[str, float], outcomes: Sequence[CheckOutcome], by_hand: float) -> Score:
    """The points of what is skipped still go to the others. Those ``by_hand`` are yet to come."""
    possible = sum(points[one.id] for one in outcomes)
    asked = sum(points[one.id] for one in outcomes if one.outcome != "skipped")
    earned = sum(points[one.id] for one in outcomes if one.outcome == "passed")
    share = earned / asked if asked else 0.0
    return Score(earned=round(possible * share, 2), possible=round(possible + by_hand, 2))


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
