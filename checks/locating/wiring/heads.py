"""One way to see query, key and value in what was projected."""

from __future__ import annotations

from dataclasses import dataclass

from ..context import Predict
from ..search.parameter_search import LinearMap

Parts = tuple[Predict, Predict, Predict]


@dataclass(frozen=True)
class Heads:
    """One way to see query, key and value (in that order) in what was projected, each B h T d."""

    parts: Parts
    heads: int
    packing: str  # "separate", "two maps", "per head", or one of the packings
    id: str | None = None  # of a wrong way
    blame: str = "query"
    price: float = 0.0
    maps: tuple[LinearMap, ...] = ()
    right: Parts | None = None  # where it is known what the parts should have been
    before: tuple[LinearMap, ...] = ()  # what those read is made by these, where they are the second in a row
