"""How numbers are distributed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from ..wording import say
from .shapes import Bin, Histogram

_EDGES = range(0, 101, 10)  # in per cent; the last bin holds 100, too


def histogram(percents: Iterable[float]) -> Histogram:
    """Numbers from 0 to 100, of which there is at least one."""
    counts = np.histogram(list(percents), _EDGES)[0].tolist()
    bins = ((low, high, count) for (low, high), count in zip(pairwise(_EDGES), counts) if count)
    said = ", ".join(say("marks.bin", low=low, high=high, count=count) for low, high, count in bins)
    return Histogram(
        description=say("marks.description", bins=said),
        bins=tuple(Bin(one, round(100 * one / max(counts), 1)) for one in counts),
        ticks=tuple(map(str, _EDGES)),
    )
