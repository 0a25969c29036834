"""Which sizes a model of an architecture is tried at. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...reference.model_sizes import ModelSizes

Integer = Callable[[int, int], int]  # a number from a range, both ends included


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Sizes that hide no mistake: which are drawn, and which of them will do."""

    draw: Callable[[Integer], ModelSizes]  # small sizes, for one example
    suits: Callable[[Any], bool]  # do they hide no mistake?
    coincidences: Callable[[Any], int]  # axes that might be exchanged, and nobody would see it
    fresh: ModelSizes  # wide enough to tell how weights are spread
