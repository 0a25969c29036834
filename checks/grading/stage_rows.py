"""The rows of the result record that tell of the stages."""

from __future__ import annotations

from collections.abc import Sequence

from ...reference.components import COMPONENTS
from ...reference.stages import Stage
from ..assignment.kinds import judges_stage
from ..examining.examination import Examination
from ..examining.passes.replay import Seen
from ..examining.placing import place_of
from ..examining.repair import repair_at
from ..examining.told_rows import told_rows
from ..examining.verdicts import NOT_BUILT, CheckOutcome
from ..locating.comparing import ROUNDING
from ..parts.in_progress import written_parts
from ..parts.part_judging import stage_outcomes
from ..parts.parts import parts_of
from ..parts.parts_record import unseen_stage
from ..record.code_lines import location
from ..record.result import Evidence, Location, StageResult, StageStatus
from ..record.sentences import as_sentence
from ..rules.kinds.shape import shape_and_expected
from .leading_slice import LeadingSlice, leading_slice, rounded


def stage_results(examination: Examination, outcomes: Sequence[CheckOutcome]) -> dict[str, StageResult]:
    """Those of the model; where none is asked for, those of the components."""
    if examination.assignment.architectures:
        rows = (row for row in told_rows(examination).values() if examination.assignment.asks(row.key))
        alone = written_parts(examination)
        return {row.label: _of_model(alone.get(row.key, examination), row, outcomes) for row in rows}
    return {row.label: _stage_of_parts(examination, row) for row in examination.family.stages}


def _of_model(examination: Examination, row: Stage, outcomes: Sequence[CheckOutcome]) -> StageResult:
    if examination.unbuilt:
        return unseen_stage(row, examination.assignment.full, NOT_BUILT)
    return _stage(examination, row, outcomes)


def _stage_of_parts(examination: Examination, row: Stage) -> StageResult:
    """The stage in the component that gets it wrong, else in the first that has it."""
    having = [one for one in parts_of(examination).judged if row.key in COMPONENTS[one.key].stages]
    found = [
        _stage(one.component, row, stage_outcomes(one.faults)) for one in having if one.component is not None
    ]
    wrong = [one for one in found if one.status is StageStatus.FAILED]
    if found:
        return (wrong or found)[0]
    why = having[0].faults[0].message if having else None
    return unseen_stage(row, examination.assignment.full, why)


def _stage(examination: Examination, row: Stage, outcomes: Sequence[CheckOutcome]) -> StageResult:
    seen = None if _follows(examination, row.key) else worst(examination, row.key)
    mine = [one for one in outcomes if _judges(examination, one, row)]
    failed = [one for one in mine if one.outcome in ("failed", "errored", "timed_out")]
    faults = list(dict.fromkeys(id for one in failed for id in one.mistakes))
    shape, expected = shape_and_expected(examination, row)
    shown = _slice(examination, row, seen)
    return StageResult(
        key=row.key,
        title=row.title,
        axes=row.axes,
        equation=row.equation,
        status=_status(examination, row, bool(failed)),
        evidence=_evidence(examination, row.key),
        crashed=_crashed(examination, row.key),
        expected_shape=list(expected),
        shape=None if shape is None else list(shape),
        max_error=rounded(seen.error) if seen is not None else None,
        tolerance=ROUNDING * seen.scale if seen is not None else None,
        mistakes=faults,
        location=next((_at(one, examination) for one in failed if one.frame), None)
        or where_of(examination, row.key),
        hint=examination.family.mistakes[faults[0]].hint if faults else None,
        message=" ".join(filter(None, dict.fromkeys(as_sentence(one.message) for one in failed)))
        or _why_not(mine)
        or (None if seen is None else seen.step.message)
        or None,
        values=shown and shown[0],
        expected_values=shown and shown[1],
        values_of=shown and shown[2],
    )


def _at(outcome: CheckOutcome, examination: Examination) -> Location | None:
    """Where the check itself found what is wrong."""
    return location(outcome.frame, examination.source) if outcome.frame else None


def _slice(examination: Examination, row: Stage, seen: Seen | None) -> LeadingSlice | None:
    """The image is what was given: there is nothing to compare it with."""
    image = examination.shown().context.stages.get(("image", 0))
    if row.key == "image" and image is not None:
        return leading_slice(row, image)
    return None if seen is None else leading_slice(row, seen.student, seen.right)


def _judges(examination: Examination, outcome: CheckOutcome, row: Stage) -> bool:
    """Is this check about the stage itself? Of the image, only properties say something."""
    family = examination.family
    if row.key == family.input_key and outcome.stage is None and outcome.mistakes:
        return family.mistakes[outcome.mistakes[0]].stage == row.key
    return outcome.stage == row.key and judges_stage(outcome.id)


def _crashed(examination: Examination, key: str) -> bool:
    crash = examination.diagnosis
    return crash is not None and crash.here and crash.stage == key


def _why_not(mine: Sequence[CheckOutcome]) -> str | None:
    missed = [one.message for one in mine if one.outcome in ("not_reached", "skipped") and one.message]
    return missed[0] if missed else None


def _status(examination: Examination, row: Stage, failed: bool) -> StageStatus:
    if failed:
        return StageStatus.FAILED
    if row.key == examination.family.input_key:
        return StageStatus.PASSED
    if _follows(examination, row.key):
        return StageStatus.PASSED
    if row.key in examination.to_write:
        return StageStatus.NOT_WRITTEN
    if row.key in examination.absent:
        return StageStatus.NOT_APPLICABLE
    reached = row.key not in examination.missing and examination.shown().first(row.key)
    return StageStatus.PASSED if reached else StageStatus.NOT_REACHED


def _follows(examination: Examination, key: str) -> bool:
    """Is the stage right but for what it is given?"""
    return any(key in one.follows for one in examination.repairs)


def _evidence(examination: Examination, key: str) -> Evidence:
    if _follows(examination, key):
        return Evidence.IMPLIED
    if key == examination.family.input_key:
        return Evidence.OBSERVED
    seen = examination.shown().all(key)
    if not seen:
        return Evidence.ABSENT
    return Evidence.OBSERVED if any(one.step.found for one in seen) else Evidence.IMPLIED


def worst(examination: Examination, key: str) -> Seen | None:
    """The stage in the first block where it differs from its equation, else in the first; None if unseen."""
    seen = examination.shown().all(key)
    wrong = [one for one in seen if one.differs(ROUNDING)]
    return next(iter([*wrong, *seen]), None)


def where_of(examination: Examination, key: str) -> Location | None:
    frame, repair = place_of(examination, key), repair_at(examination.repairs, key)
    if frame is None:
        return None
    if repair is None:
        return location(frame, examination.source)
    width = len(repair.edit.old.partition("\n")[0].strip())
    return location(frame, examination.source, (repair.edit.column, width))
