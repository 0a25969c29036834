"""What a stage gives beside what it should, in one sentence."""

from __future__ import annotations

from ...checks.record.result import StageResult
from .numbers import expected_axes, seen_axes, shape_text
from .text import clean
from .wording import say

_LIMIT = 800  # characters of a message: the stage itself shows all of it


def got(stage: StageResult) -> str:
    """Its shape, or else what was measured; empty where nothing was."""
    if stage.shape is not None and stage.shape != stage.expected_shape:
        expected, seen = shape_text(expected_axes(stage)), shape_text(seen_axes(stage))
        return say("got.shape", expected=expected, seen=seen)
    return clean(stage.message or "", _LIMIT)
