"""Numbers as figures show them."""

from __future__ import annotations

import math


def numeral(number: float) -> str:
    """Three significant digits, such as 3.11, 0.001 or 4.4e-16."""
    if not math.isfinite(number):
        return str(number)
    # adding zero takes the sign from a zero
    digits, _, power = f"{number + 0.0:.3g}".partition("e")
    return f"{digits}e{int(power)}" if power else digits
