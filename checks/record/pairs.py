"""Two submissions that are alike, as ``similarity`` finds them. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

from .result import CodeLine

SHARE = 0.8  # of one program found in the other; no two programs of tests/bases come up to it


@dataclass(frozen=True)
class Pair:
    """Two submissions, and the share of each, from 0 to 1, that is found in the other."""

    first: str
    second: str
    shares: tuple[float, float]
    excerpts: tuple[tuple[CodeLine, ...], tuple[CodeLine, ...]] = ((), ())  # what they share is marked
