"""What a model can be built at, and how much it learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .question import BUILDING, Natural, OfModel, OfSubject


@dataclass(frozen=True, kw_only=True)
class FitSizes(OfSubject[tuple[Mapping[str, int], ...]]):
    """The nearest sizes that the model can really be built at, to each that is wanted."""

    name = "sizes"
    doing = BUILDING

    wanted: Sequence[Any]  # ModelSizes, as in OfModel

    def demand(self, answer: tuple[Mapping[str, int], ...]) -> None:
        if len(answer) != len(self.wanted):
            raise ValueError(f"{len(answer)} sizes instead of {len(self.wanted)}")


@dataclass(frozen=True, kw_only=True)
class CountParameters(OfModel[Natural]):
    """How many trainable numbers a model or component has."""

    name = "parameters"
    doing = BUILDING


@dataclass(frozen=True, kw_only=True)
class TakeOwnSizes(OfModel[Mapping[str, Natural]]):
    """The sizes that the code's own defaults and constants give; what it demands is given by ``sizes``."""

    name = "own_sizes"
    doing = BUILDING


@dataclass(frozen=True, kw_only=True)
class TryOwnPass(OfModel[bool]):
    """Does the model of the student's own sizes run? False where it has none but these ``sizes``."""

    name = "own_pass"
    doing = "in a pass at its own sizes"
