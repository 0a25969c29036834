"""The rows of the result record that name mistakes and variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...submissions.errors import Frame
from ...submissions.reading.source import Source
from ..architecture.family import Family
from ..assignment.kinds import PARTS, judges_stage, kind_of
from ..examining.examination import Examination
from ..examining.verdicts import CheckOutcome
from ..locating.steps import Finding
from ..record.code_lines import location
from ..record.result import Location, MistakeResult, StageResult, StageStatus, VariantResult
from .check_rows import label_of
from .stage_rows import where_of


def mistake_results(
    examinations: Sequence[Examination], outcomes: Sequence[CheckOutcome]
) -> list[MistakeResult]:
    """The mistakes that stages show, and that checks of them tell; where changes mend them, what they are."""
    whole_first = sorted(outcomes, key=lambda one: one.stage is not None)
    lines = {id: one.frame for one in whole_first for id in one.mistakes}
    told = {id: one.stage for one in outcomes if one.stage and judges_stage(one.id) for id in one.mistakes}
    found = [
        (examination, one)
        for examination in examinations
        for one in _in_order(examination)
        if examination.counts(one.id) and (one.id in told or not examination.repairs)
    ]
    others = told.keys() - {one.id for _, one in found}
    told_alone = [Finding(id, stage, None) for id, stage in told.items() if id in others]
    found = [*((whole, one) for whole in examinations[:1] for one in told_alone), *found]
    rows: dict[tuple[str, tuple[str, int] | None], MistakeResult] = {}
    for row in (_mistake(examination, one, lines.get(one.id)) for examination, one in found):
        line = None if row.location is None else (row.location.file, row.location.line)
        rows.setdefault((row.id, line), row)  # one line makes it at each stage that is computed there
    return [*rows.values()]


def property_results(
    outcomes: Sequence[CheckOutcome],
    source: Source,
    known: set[str],
    family: Family,
    stages: Mapping[str, StageResult],
) -> list[MistakeResult]:
    """What properties of the whole model give away beyond the mistakes that stages have shown.

    On the line of a stage that is wrong, and of which nothing is known, one is that stage's.
    """
    unknown = {
        (one.location.file, one.location.line): label
        for label, one in reversed([*stages.items()])
        if one.status is StageStatus.FAILED and not one.mistakes and one.location
    }
    found: dict[str, MistakeResult] = {}
    for outcome in outcomes:
        if outcome.stage is not None or not outcome.mistakes or kind_of(outcome.id) in PARTS:
            continue  # parts give their mistakes themselves
        may_follow = bool(known) and family.mistakes[outcome.mistakes[0]].may_follow
        if not may_follow and not known.intersection(outcome.mistakes):
            row = _of_property(outcome, source, family)
            at = row.location and unknown.get((row.location.file, row.location.line))
            found.setdefault(row.id, row.model_copy(update={"stage": at}) if at else row)
    return list(found.values())


def _of_property(outcome: CheckOutcome, source: Source, family: Family) -> MistakeResult:
    """The first id, and those that the property cannot tell from it."""
    id, *also = outcome.mistakes
    where = None if outcome.frame is None else location(outcome.frame, source)
    return _row(family, id, family.mistakes[id].stage, where, also)


def variant_results(examination: Examination, mistakes: Sequence[MistakeResult]) -> list[VariantResult]:
    """What another course might ask for; not what is one of the ``mistakes`` all the same."""
    found, family, told = [], examination.family, {one.id for one in mistakes}
    for finding in (*_in_order(examination), *examination.noted):
        known = family.mistakes[finding.id]
        allowed, reason = examination.assignment.allows(finding.id)
        if (known.kind != "error" or allowed) and not (allowed and finding.id in told):
            found.append(
                VariantResult(
                    id=finding.id,
                    stage=label_of(family, finding.stage) or finding.stage,
                    title=known.title,
                    allowed=allowed,
                    reason=reason,
                )
            )
    return found


def _in_order(examination: Examination) -> list[Finding]:
    """Findings in the order of the stages; those at one stage as the walk met them."""
    order = {stage.key: number for number, stage in enumerate(examination.family.stages)}
    return sorted(examination.findings(), key=lambda one: order.get(one.stage, len(order)))


def _mistake(examination: Examination, finding: Finding, frame: Frame | None) -> MistakeResult:
    """Where the check says, if it does; else where the stage is made."""
    family = examination.family
    told = None if frame is None else location(frame, examination.source)
    where, also = told or where_of(examination, finding.stage), family.mistakes[finding.id].confused_with
    return _row(family, finding.id, finding.stage, where, also, _blocks(examination, finding))


def _row(
    family: Family,
    id: str,
    stage: str,
    where: Location | None,
    also: Sequence[str],
    blocks: str | None = None,
) -> MistakeResult:
    known = family.mistakes[id]
    return MistakeResult(
        id=id,
        stage=label_of(family, stage) or stage,
        kind=known.kind,
        title=known.title,
        hint=known.hint,
        experiment=known.experiment,
        explanation=known.explanation,
        location=where,
        blocks=blocks,
        also=list(also),
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
