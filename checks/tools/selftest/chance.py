"""Whether a rate is worse than another by more than chance.

Fisher's exact test, one-sided: were both runs of one rate, and their right programs drawn from one urn, how
likely would the new run have so few, or fewer? (R. A. Fisher, Statistical Methods for Research Workers, 5th
edition, 1934, section 21.02.)
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

LEVEL = 0.001  # of all rates of a run together: one run in a thousand says by chance that a rate fell


def likelihood(count: int, total: int, before: int, total_before: int) -> float:
    """How likely ``count`` of ``total`` or fewer are, where ``before`` of ``total_before`` were seen.

    At most 1, and 1 where one of both totals is 0.
    """
    among, drawn = count + before, total + total_before
    fewest = max(0, among - total_before)
    ways = sum(comb(total, k) * comb(total_before, among - k) for k in range(fewest, count + 1))
    return float(Fraction(ways, comb(drawn, among)))


def fell(count: int, total: int, before: int, total_before: int, rates: int) -> bool:
    """Is the rate lower by more than chance, where so many ``rates`` are looked at?

    Each has an equal share of the level (Bonferroni's), so that it holds however they hang together.
    """
    return likelihood(count, total, before, total_before) < LEVEL / rates
