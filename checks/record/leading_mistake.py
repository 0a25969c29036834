"""The mistake by which a stage is told: the same one wherever a result is shown, or counted."""

from __future__ import annotations

from .result import MistakeResult, StageResult
from .snapshot import Record


def named_mistake(record: Record, label: str, stage: StageResult) -> MistakeResult | None:
    """The most specific mistake known of the stage ``label``; None where none explains it."""
    listed = [one for name in stage.mistakes for one in record.mistakes if one.id == name]
    return next(iter([*listed, *(one for one in record.mistakes if one.stage == label)]), None)
