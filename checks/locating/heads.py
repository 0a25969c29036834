"""One way from a block's normed input to the context of its attention: what the walk settles in one step."""

from __future__ import annotations

from dataclasses import dataclass

from .context import Predict
from .forms import Form
from .search.parameters import Linear

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
    maps: tuple[Linear, ...] = ()
    right: Parts | None = None  # where it is known what the parts should have been


@dataclass(frozen=True)
class Attention:
    """One way from query, key and value to the context, each form with its blame."""

    heads: Heads
    order: str | None
    scores: Form
    probabilities: Form
    context: Form

    @property
    def price(self) -> float:
        return self.heads.price + self.scores.price + self.probabilities.price + self.context.price
