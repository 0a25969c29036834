"""Numbers as bars."""

from __future__ import annotations

import numpy as np

from .kept import Array
from .numerals import numeral
from .shapes import Bar

_MOST = 40  # bars, which are as many lines


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
