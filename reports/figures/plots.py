"""Numbers as points and lines over two axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..words.text import numeral
from ..words.wording import say
from .figure_parts import Plot, PlotLine, Tick
from .kept import Array

_MARGIN = 0.06  # of the span of numbers, above and below

Series = tuple[str, str, Array, Array]  # label, style, x and y


def plot(title: str, description: str, x: str, series: Sequence[Series], scattered: bool = False) -> Plot:
    """All ``series`` over common axes; numbers that are not finite are left out."""
    xs, ys = (np.concatenate([one[at] for one in series]) for at in (2, 3))
    across, up = _span(xs, 0.0 if not scattered else _MARGIN), _span(ys, _MARGIN)
    return Plot(
        title=title,
        description=description,
        x=x,
        lines=tuple(PlotLine(label, style, _points(x, y, across, up)) for label, style, x, y in series),
        x_ticks=_ticks(across, whole=not scattered),
        y_ticks=tuple(Tick(100 - one.at, one.text) for one in _ticks(up)),
        scattered=scattered,
    )


def curves(points: Array) -> Plot:
    """An activation as measured, over what the equation gives at the same places."""
    before, after, right = points
    low, high = numeral(float(before.min())), numeral(float(before.max()))
    series = [
        (say("figure.equation"), "expected", before, right),
        (say("figure.student"), "seen", before, after),
    ]
    return plot(
        say("curve.plot"),
        say("curve.description", low=low, high=high),
        say("curve.x"),
        series,
        scattered=True,
    )


def streams(lengths: Array) -> Plot:
    """The length of every token from block to block; the class token, which comes first, stands out."""
    steps = np.arange(float(len(lengths)))
    class_token, *patches = lengths.T
    series: list[Series] = [(say("stream.patch"), "other", steps, one) for one in patches]
    series.append((say("stream.class"), "seen", steps, class_token))
    first, last = (numeral(float(one)) for one in (lengths[0].mean(), lengths[-1].mean()))
    return plot(
        say("stream.plot"), say("stream.description", first=first, last=last), say("stream.x"), series
    )


def statistics(both: Array) -> tuple[Plot, Plot]:
    """Mean and standard deviation of each token, before a norm and after it."""
    tokens = np.arange(float(both.shape[-1]))
    return _statistic("mean", tokens, both[:, 0]), _statistic("spread", tokens, both[:, 1])


def _statistic(name: str, tokens: Array, both: Array) -> Plot:
    before, after = both
    low, high = numeral(float(after.min())), numeral(float(after.max()))
    series = [
        (say("norm.before"), "other", tokens, before),
        (say("norm.after"), "seen", tokens, after),
    ]
    return plot(
        say(f"norm.{name}"), say(f"norm.{name}_description", low=low, high=high), say("norm.x"), series
    )


def _span(numbers: Array, margin: float) -> tuple[float, float]:
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    more = margin * ((high - low) or 1.0)
    return low - more, high + more


def _points(
    x: Array, y: Array, across: tuple[float, float], up: tuple[float, float]
) -> tuple[tuple[float, float], ...]:
    there = np.isfinite(x) & np.isfinite(y)
    xs = 100 * (x[there] - across[0]) / ((across[1] - across[0]) or 1.0)
    ys = 100 - 100 * (y[there] - up[0]) / (up[1] - up[0])
    return tuple(zip(xs.round(1).tolist(), ys.round(1).tolist()))


def _ticks(span: tuple[float, float], whole: bool = False) -> tuple[Tick, ...]:
    """A few round numbers within ``span``."""
    low, high = span
    rough = (high - low) / 4 or 1.0
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(one * power for one in (1, 2, 5, 10) if one * power >= rough)
    step = max(step, 1.0) if whole else step
    at = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    return tuple(Tick(round(100 * (one - low) / ((high - low) or 1.0), 1), numeral(float(one))) for one in at)
