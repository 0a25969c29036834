"""What the record says of parts: the mistakes in exercises, and the stages that no component showed."""

from __future__ import annotations

from collections.abc import Iterator

from ...reference.model_sizes import ModelSizes
from ...reference.stages import Stage
from ..architecture.catalogue import Mistake, mistakes
from ..record.code_lines import location
from ..record.result import Evidence, MistakeResult, StageResult, StageStatus, VariantResult
from .exercise_judging import Exercises, Verdict


def exercise_mistakes(exercises: Exercises) -> list[MistakeResult]:
    """What was recognised in functions and costs marks, each at the check that it fails."""
    return [
        MistakeResult(
            id=known.id,
            stage=check,
            kind=known.kind,
            title=known.title,
            hint=known.hint,
            experiment=known.experiment,
            explanation=known.explanation,
            location=None if verdict.frame is None else location(verdict.frame, exercises.source),
            also=list(known.confused_with),
        )
        for check, verdict, known in _recognised(exercises)
        if exercises.counts(known.id)
    ]


def exercise_variants(exercises: Exercises) -> list[VariantResult]:
    """The forms that are right in some courses, and whether they are in this one."""
    found = []
    for check, _, known in _recognised(exercises):
        allowed, reason = exercises.assignment.allows(known.id)
        if known.kind != "error" or allowed:
            found.append(
                VariantResult(id=known.id, stage=check, title=known.title, allowed=allowed, reason=reason)
            )
    return found


def _recognised(exercises: Exercises) -> Iterator[tuple[str, Verdict, Mistake]]:
    for key, verdict in exercises.judged.items():
        for name in verdict.seen:
            yield f"exercise[{key}]", verdict, mistakes()[name]


def unseen_stage(row: Stage, full: ModelSizes, why: str | None) -> StageResult:
    """A stage that could not be looked at, and ``why``; without that, a stage of nothing asked for."""
    return StageResult(
        key=row.key,
        title=row.title,
        axes=row.axes,
        equation=row.equation,
        status=StageStatus.NOT_APPLICABLE if why is None else StageStatus.NOT_REACHED,
        evidence=Evidence.ABSENT,
        expected_shape=list(row.shape(full)),
        message=why,
    )
