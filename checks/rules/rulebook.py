"""What is right in an architecture beside its equations: of single stages, and of the whole model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ..architecture.family import Family
from ..examining.measures import Measure
from ..examining.passes.example import Example
from .invariants import Invariant
from .properties import Property

Forms = Iterator[tuple[str, tuple[str, ...], Tensor]]  # what it is, the mistake that it is, its values


@dataclass(frozen=True, kw_only=True)
class Rulebook:
    """What always holds of models of one architecture, and what is measured on them."""

    invariants: Mapping[str, Invariant]  # by stage
    properties: Mapping[str, Property]  # of the whole model, by name
    measures: Mapping[str, Mapping[str, Measure]] = field(default_factory=dict)  # for figures, by stage
    outputs: Mapping[str, Callable[[Example], Forms]] = field(default_factory=dict)  # beside the scores
    parameters: Callable[[ModelSizes, str], int] | None = None  # how many a right model has, by kind of block


@cache
def rulebook_of(family: Family) -> Rulebook:
    """Raises ArchitectureError where it cannot be loaded."""
    return family.loaded(family.rules_at, Rulebook)
