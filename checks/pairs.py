"""Two submissions that are alike, as ``similarity`` finds them. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

from .result import CodeLine

SHARE = 0.8  # of one program found in the other; of 99 in 100 pairs of independent programs it is below 0.62


@dataclass(frozen=True)
class Pair:
    """Two submissions, and the share of each, from 0 to 1, that is found in the other."""

    first: str
    second: str
    shares: tuple[float, float]
    excerpts: tuple[tuple[CodeLine, ...], tuple[CodeLine, ...]] = ((), ())  # what they share is marked
