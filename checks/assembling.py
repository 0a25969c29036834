"""The result record, put together from what was examined and how the checks ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..reference.components import COMPONENTS
from ..reference.stages import ARCHITECTURES, STAGES, Stage
from ..submissions.errors import Frame, SubmissionError
from ..submissions.session import Left
from ..submissions.source import Source
from .assignment import Assignment
from .catalogue import mistakes
from .components.exercises import Exercises
from .components.judging import stage_outcomes
from .components.parts import Parts
from .components.record import exercise_mistakes, exercise_variants, unseen_stage
from .corners import corner_of, rounded
from .examination import Examination
from .judging import shape_and_expected
from .locating.places import ROUNDING
from .locating.walk import Finding
from .placing import location, place_of
from .replay import Seen
from .result import (
    CheckResult,
    Evidence,
    Location,
    MistakeResult,
    Note,
    Outcome,
    Result,
    Run,
    Score,
    StageResult,
    StageStatus,
    Status,
    VariantResult,
)
from .verdicts import CheckOutcome


@dataclass(frozen=True)
class Notes:
    """What was left out when the files were executed, and what was inferred of the model."""

    skipped: tuple[Left, ...] = ()
    inferred: tuple[str, ...] = ()


def graded(
    name: str,
    examination: Examination,
    outcomes: Sequence[CheckOutcome],
    notes: Notes,
    run: Run,
    parts: Parts | None = None,
    exercises: Exercises | None = None,
) -> Result:
    """The record of a submission whose checks have run."""
    points = examination.assignment.points_of([one.id for one in outcomes])
    checks = _checks(points, outcomes)
    models = [examination] if examination.assignment.architectures else []
    components = parts.components if parts is not None else []
    findings = [found for one in (*models, *components) for found in _mistakes(one)]
    findings += exercise_mistakes(exercises) if exercises else []
    findings += _of_properties(outcomes, examination.source, {one.id for one in findings})
    return Result(
        schema=1,
        submission=name,
        assignment=examination.assignment.name,
        status=Status.GRADED,
        score=_score(points, outcomes),
        architecture=next((one.architecture for one in (*models, *components) if one.architecture), None),
        stages=_stages(examination, outcomes, parts),
        checks=checks,
        mistakes=findings,
        variants=[
            *(found for one in (*models, *components) for found in _variants(one)),
            *(exercise_variants(exercises) if exercises else ()),
        ],
        notes=[*_notes(notes, examination.source), *_left_out(*models, *components)],
        run=run,
    )


def not_graded(
    name: str, assignment: Assignment, error: SubmissionError, source: Source | None, notes: Notes, run: Run
) -> Result:
    """The record of a submission that ended before its checks could run."""
    possible = assignment.possible
    where = None if error.frame is None else location(error.frame, source)
    return Result(
        schema=1,
        submission=name,
        assignment=assignment.name,
        status=Status(error.status),
        reason=error.reason,
        location=where,
        score=Score(earned=0.0, possible=possible),
        notes=_notes(notes, source),
        run=run,
    )


def _rows(examination: Examination) -> Sequence[Stage]:
    """The stages with texts as they are true in the architecture that was seen."""
    rows = {one.key: one for one in ARCHITECTURES.get(examination.architecture or "", STAGES)}
    return [rows.get(one.key, one) for one in STAGES]


def _checks(points: Mapping[str, float], outcomes: Sequence[CheckOutcome]) -> list[CheckResult]:
    return [
        CheckResult(
            id=one.id,
            stage=_label(one.stage),
            title=one.title,
            outcome=Outcome(one.outcome),
            points=round(points[one.id], 4),
            earned=round(points[one.id], 4) if one.outcome == "passed" else 0.0,
            message=_message(one),
            counterexample=None if one.counterexample is None else dict(one.counterexample),
        )
        for one in outcomes
    ]


def _message(outcome: CheckOutcome) -> str:
    """At a stage the mistake's title first; a property alone does not prove its mistake."""
    if not outcome.stage or not outcome.mistakes:
        return outcome.message
    title = mistakes()[outcome.mistakes[0]].title
    return f"{title[:1].upper()}{title[1:]}. {outcome.message}".strip()


def _label(key: str | None) -> str | None:
    return next((one.label for one in STAGES if one.key == key), None)


def _score(points: Mapping[str, float], outcomes: Sequence[CheckOutcome]) -> Score:
    """Skipped checks say nothing: their points go to the others in proportion."""
    possible = sum(points[one.id] for one in outcomes)
    asked = sum(points[one.id] for one in outcomes if one.outcome != "skipped")
    earned = sum(points[one.id] for one in outcomes if one.outcome == "passed")
    share = earned / asked if asked else 0.0
    return Score(earned=round(possible * share, 2), possible=round(possible, 2))


def _stage(examination: Examination, row: Stage, outcomes: Sequence[CheckOutcome]) -> StageResult:
    seen = _worst(examination, row.key)
    mine = [one for one in outcomes if _judges(one, row)]
    failed = [one for one in mine if one.outcome in ("failed", "errored", "timed_out")]
    faults = list(dict.fromkeys(id for one in failed for id in one.mistakes))
    shape, expected = shape_and_expected(examination, row)
    corner = None if seen is None else corner_of(row, seen)
    return StageResult(
        key=row.key,
        title=row.title,
        axes=row.axes,
        equation=row.equation,
        status=_status(examination, row, bool(failed)),
        evidence=_evidence(examination, row.key),
        expected_shape=list(expected),
        shape=None if shape is None else list(shape),
        max_error=rounded(seen.error) if seen is not None else None,
        tolerance=ROUNDING * seen.scale if seen is not None else None,
        mistakes=faults,
        location=_where(examination, row.key),
        hint=mistakes()[faults[0]].hint if faults else None,
        message=" ".join(dict.fromkeys(one.message for one in failed))
        or _why_not(mine)
        or (None if seen is None else seen.step.message)
        or None,
        values=corner and corner[0],
        expected_values=corner and corner[1],
        values_of=corner and corner[2],
    )


def _stages(
    examination: Examination, outcomes: Sequence[CheckOutcome], parts: Parts | None
) -> dict[str, StageResult]:
    """Those of the model; where none is asked for, those of the components."""
    if examination.assignment.architectures:
        return {row.label: _stage(examination, row, outcomes) for row in _rows(examination)}
    return {row.label: _stage_of_parts(parts, examination, row) for row in STAGES}


def _stage_of_parts(parts: Parts | None, examination: Examination, row: Stage) -> StageResult:
    """The stage in the component that gets it wrong, else in the first that has it."""
    having = [one for one in (parts.judged if parts else ()) if row.key in COMPONENTS[one.key].stages]
    found = [
        _stage(one.component, row, stage_outcomes(one.faults)) for one in having if one.component is not None
    ]
    wrong = [one for one in found if one.status is StageStatus.FAILED]
    if found:
        return (wrong or found)[0]
    return unseen_stage(row, examination.assignment.full, next(iter(having), None))


_JUDGING = ("shape", "equation", "invariant")
_OF_PARTS = ("component[", "exercise[")  # which give their mistakes themselves
# what a property shows of these may only follow from a mistake at a stage
_CONSEQUENCES = {"unused-parameter", "path-detached", "rng-consumed-in-eval", "squeeze-drops-batch"}


def _judges(outcome: CheckOutcome, row: Stage) -> bool:
    """Is this check about the stage itself? Of the image, only properties say something."""
    if row.key == "image" and outcome.stage is None and outcome.mistakes:
        return mistakes()[outcome.mistakes[0]].stage == row.key
    return outcome.stage == row.key and outcome.id.split("[")[0] in _JUDGING


def _why_not(mine: Sequence[CheckOutcome]) -> str | None:
    missed = [one.message for one in mine if one.outcome in ("not_reached", "skipped") and one.message]
    return missed[0] if missed else None


def _status(examination: Examination, row: Stage, failed: bool) -> StageStatus:
    if failed:
        return StageStatus.FAILED
    if row.key == "image":
        return StageStatus.PASSED
    if row.key in examination.absent:
        return StageStatus.NOT_APPLICABLE
    return StageStatus.PASSED if examination.examples[0].first(row.key) else StageStatus.NOT_REACHED


def _evidence(examination: Examination, key: str) -> Evidence:
    if key == "image":
        return Evidence.OBSERVED
    seen = examination.examples[0].all(key)
    if not seen:
        return Evidence.ABSENT
    return Evidence.OBSERVED if any(one.step.found for one in seen) else Evidence.IMPLIED


def _worst(examination: Examination, key: str) -> Seen | None:
    """The first block in which the stage differs from its equation, else the first."""
    seen = examination.examples[0].all(key)
    wrong = [one for one in seen if one.error > ROUNDING * one.scale]
    return next(iter([*wrong, *seen]), None)


def _where(examination: Examination, key: str) -> Location | None:
    frame = place_of(examination, key)
    return None if frame is None else location(frame, examination.source)


def _mistakes(examination: Examination) -> list[MistakeResult]:
    return [_mistake(examination, one) for one in _in_order(examination) if examination.counts(one.id)]


def _of_properties(outcomes: Sequence[CheckOutcome], source: Source, known: set[str]) -> list[MistakeResult]:
    """What properties of the whole model give away beyond the mistakes that stages have shown."""
    found: dict[str, MistakeResult] = {}
    for one in outcomes:
        if one.stage is not None or not one.mistakes or one.id.startswith(_OF_PARTS):
            continue
        may_follow = bool(known) and one.mistakes[0] in _CONSEQUENCES
        if not may_follow and not known.intersection(one.mistakes):
            found.setdefault(one.mistakes[0], _of_property(one, source))
    return list(found.values())


def _of_property(outcome: CheckOutcome, source: Source) -> MistakeResult:
    """The first id, and those that the property cannot tell from it."""
    known = mistakes()[outcome.mistakes[0]]
    return MistakeResult(
        id=known.id,
        stage=_label(known.stage) or known.stage,
        kind=known.kind,
        title=known.title,
        hint=known.hint,
        location=None if outcome.frame is None else location(outcome.frame, source),
        also=list(outcome.mistakes[1:]),
    )


def _in_order(examination: Examination) -> list[Finding]:
    """Findings in the order of the stages; those at one stage as the walk met them."""
    order = {stage.key: number for number, stage in enumerate(STAGES)}
    return sorted(examination.findings, key=lambda one: order.get(one.stage, len(order)))


def _mistake(examination: Examination, finding: Finding) -> MistakeResult:
    known = mistakes()[finding.id]
    return MistakeResult(
        id=finding.id,
        stage=_label(finding.stage) or finding.stage,
        kind=known.kind,
        title=known.title,
        hint=known.hint,
        location=_where(examination, finding.stage),
        blocks=_blocks(examination, finding),
        also=list(known.confused_with),
    )


def _blocks(examination: Examination, finding: Finding) -> str | None:
    """In which blocks a mistake was made, if in blocks at all."""
    steps = examination.walk.steps
    numbers = sorted(
        {step.block for step in steps for one in step.findings if one.id == finding.id and step.block}
    )
    if not numbers:
        return None
    if len(numbers) == examination.walk.blocks and len(numbers) > 1:
        return "all blocks"
    return ("block " if len(numbers) == 1 else "blocks ") + ", ".join(map(str, numbers))


def _variants(examination: Examination) -> list[VariantResult]:
    found = []
    for one in (*_in_order(examination), *examination.noted):
        known = mistakes()[one.id]
        allowed, reason = examination.assignment.allows(one.id)
        if known.kind != "error" or allowed:
            found.append(
                VariantResult(
                    id=one.id,
                    stage=_label(one.stage) or one.stage,
                    title=known.title,
                    allowed=allowed,
                    reason=reason,
                )
            )
    return found


def _left_out(*examinations: Examination) -> list[Note]:
    return [Note(kind="inferred", text=text) for one in examinations for text in one.left_out]


def _notes(notes: Notes, source: Source | None) -> list[Note]:
    inferred = [Note(kind="inferred", text=text) for text in notes.inferred]
    skipped = [
        Note(
            kind="skipped",
            text=f"{left.text} — {left.reason}",
            location=location(Frame(left.file, left.line), source),
        )
        for left in notes.skipped
    ]
    return [*inferred, *skipped]
