"""Numbers as bars, and how they are distributed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from ..words.text import numeral
from ..words.wording import say
from .figure_parts import Bar, Bin, Histogram
from .kept import Array

_MOST = 40  # bars, which are as many lines
_EDGES = range(0, 101, 10)  # in per cent; the last bin holds 100, too


def bars(numbers: Array, low: float, high: float) -> tuple[Bar, ...]:
    """One for each number, from zero to it, on a scale from ``low`` to ``high``, which zero lies within."""
    return tuple(_bar(str(place), one, low, high) for place, one in enumerate(numbers.tolist()))


def signed_bars(numbers: Array) -> tuple[Bar, ...]:
    """The same of the first numbers, on a scale that just holds them."""
    numbers = numbers[:_MOST]
    finite = np.nan_to_num(numbers, posinf=0.0, neginf=0.0)
    return bars(numbers, min(0.0, float(finite.min())), max(0.0, float(finite.max())))


def _bar(label: str, number: float, low: float, high: float) -> Bar:
    span, shown = (high - low) or 1.0, float(np.nan_to_num(number, posinf=high, neginf=low))
    start = 100 * (min(shown, 0.0) - low) / span
    return Bar(
        label, numeral(number), round(start, 1), round(100 * min(abs(shown) / span, 1.0), 1), number < 0
    )


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
