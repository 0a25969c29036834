"""What a stage gives beside what it should, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ...checks.record.result import StageResult
from .numbers import expected_axes, seen_axes, shape_text
from .text import clean, numeral
from .wording import say

_ALIKE = 1e-3  # of each other: values are kept with six decimals
_ENOUGH = 1e-2  # of the largest: what is smaller has too few digits left for a ratio
_LEAST = 3  # numbers that have one ratio before it is called one
_LIMIT = 800  # characters of a message: the stage itself shows all of it

Pair = tuple[float, float]


def got(stage: StageResult) -> str:
    """Its shape, what was measured, a ratio, or two numbers: the first of them that tells; may be empty."""
    if stage.shape is not None and stage.shape != stage.expected_shape:
        expected, seen = shape_text(expected_axes(stage)), shape_text(seen_axes(stage))
        return say("got.shape", expected=expected, seen=seen)
    return clean(stage.message, _LIMIT) if stage.message else _apart(_pairs(stage))


def _apart(pairs: list[Pair]) -> str:
    if not pairs or not any(yours != right for yours, right in pairs):
        return ""
    if factor := constant_ratio(pairs):
        return say("got.ratio", ratio=numeral(factor, 4))
    yours, right = max(pairs, key=lambda one: abs(one[0] - one[1]))
    return say("got.numbers", seen=numeral(yours, 4), expected=numeral(right, 4))


def constant_ratio(pairs: Iterable[Pair]) -> float | None:
    """What all numbers are times those expected; None where there is no such factor, or it is 1."""
    known = [one for one in pairs if all(map(math.isfinite, one))]
    least = _ENOUGH * max((abs(right) for _, right in known), default=0.0)
    ratios = [yours / right for yours, right in known if abs(right) > least]
    if len(ratios) < _LEAST or not ratios[0]:
        return None
    mean = sum(ratios) / len(ratios)
    is_one = all(abs(one - mean) <= _ALIKE * abs(mean) for one in ratios)
    return mean if is_one and abs(mean - 1) > _ALIKE else None


def _pairs(stage: StageResult) -> list[Pair]:
    rows = zip(stage.values or (), stage.expected_values or (), strict=False)
    both = (pair for seen, right in rows for pair in zip(seen, right, strict=False))
    return [(one, other) for one, other in both if one is not None and other is not None]
