"""The result record, put together from what was examined and how the checks ended."""

from __future__ import annotations

from collections.abc import Sequence

from ..examining.examination import Examination
from ..examining.verdicts import CheckOutcome
from ..parts.exercise_judging import exercises_of
from ..parts.in_progress import written_parts
from ..parts.parts import parts_of
from ..parts.parts_record import exercise_mistakes, exercise_variants
from ..points.scoring import scored
from ..record.code_lines import location
from ..record.result import (
    Location,
    Note,
    Result,
    Run,
    Score,
    Status,
)
from ..written.examining import Written
from .arrays import kept_arrays
from .check_rows import check_rows
from .named_rows import mistake_results, property_results, variant_results
from .not_graded import Notes, notes_of, where_stopped
from .proof_row import proof_row
from .stage_rows import stage_results

_NO_POINTS = Score(earned=0, possible=0)  # yet


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
    unbuilt = examination.unbuilt
    models = [examination] if examination.assignment.architectures and not unbuilt else []
    components = [*parts_of(examination).components, *dict.fromkeys(written_parts(examination).values())]
    exercises = exercises_of(examination)
    findings = mistake_results([*models, *components], outcomes)
    findings += exercise_mistakes(exercises)
    stages = stage_results(examination, outcomes)
    known = {one.id for one in findings}
    findings += property_results(outcomes, examination.source, known, family, stages)
    found = Result(
        schema=1,
        submission=name,
        assignment=examination.assignment.name,
        status=Status(unbuilt.status) if unbuilt else Status.GRADED,
        reason=unbuilt.reason if unbuilt else None,
        location=where_stopped(unbuilt, examination.source) if unbuilt else None,
        score=_NO_POINTS,
        architecture=next((one.architecture for one in (*models, *components) if one.architecture), None),
        stages=stages,
        unwritten=None if unbuilt else _unwritten(examination),
        checks=check_rows(family, outcomes),
        mistakes=findings,
        variants=[
            *(found for one in (*models, *components) for found in variant_results(one, findings)),
            *exercise_variants(exercises),
        ],
        notes=[*notes_of(notes, examination.source), *_left_out(*models, *components)],
        written=written.record(stages) if written else None,
        run=run,
        arrays=kept_arrays([*models, *components]),
        proof=proof_row(examination, stages),  # last: it may end the submission's process
    )
    return scored(found, examination.assignment)


def _unwritten(examination: Examination) -> Location | None:
    found = examination.unfinished
    return location(found.frame, examination.source) if found and found.frame else None


def _left_out(*examinations: Examination) -> list[Note]:
    """Of what is unfinished nothing is said that only a whole model can have."""
    whole = (one for one in examinations if not one.unfinished)
    return [Note(kind="inferred", text=text) for one in whole for text in one.left_out]
