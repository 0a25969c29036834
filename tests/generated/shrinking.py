"""The simplest program that still fails: its draws made smaller, towards the first idiom of each slot."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .drawing import Below


def recorded(below: Below, draws: list[int]) -> Below:
    """Draws as ``below`` does, and adds each to ``draws``."""

    def draw(count: int) -> int:
        draws.append(below(count))
        return draws[-1]

    return draw


def replayed(draws: Sequence[int]) -> Below:
    """Draws the same again, as far as they fit and reach; the simplest then."""
    left = iter(draws)
    return lambda count: min(next(left, 0), count - 1)


def smallest(draws: Sequence[int], fails: Callable[[Sequence[int]], bool]) -> Sequence[int]:
    """The draws with as many as possible replaced by 0 that still fail, longer runs of them first."""
    size = len(draws)
    while size := size // 2:
        for start in range(0, len(draws), size):
            simpler = [*draws[:start], *[0] * len(draws[start : start + size]), *draws[start + size :]]
            if simpler != list(draws) and fails(simpler):
                draws = simpler
    return draws
