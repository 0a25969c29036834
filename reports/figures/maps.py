"""Tensors as maps of coloured cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..words.text import numeral
from ..words.wording import say
from .colours import Scale, backdrop, picture, ramp, veil
from .figure_parts import Legend, Map, Panels
from .kept import Array, Kept

_WIDTH = 208  # of a map, in pixels, where its cells are neither too small to see nor clumsy
_CELLS = (5.0, 26.0)
_WIDEST = 480  # of a map with many columns
_NAMES = ("student", "expected", "error")
_MOST = 4  # heads that are drawn

_READ = 400  # cells of a map whose numbers are in the page

Titled = Sequence[tuple[str, Array]]


class Ends(NamedTuple):
    """The numbers at the ends of a scale; with ``root`` colours follow the square root of each number."""

    low: float
    high: float
    scale: Scale
    root: bool = False


Axes = tuple[str, str]  # what the rows of a map are, and what its columns


def maps(arrays: Titled, axes: Axes) -> Panels:
    """One map for each titled array, all on one scale."""
    scale = ends([array for _, array in arrays])
    shown = tuple(_map(title, one, axes, scale) for title, one in arrays)
    return Panels(shown, (_legend("", scale),))


def veils(arrays: Titled, axes: Axes, pixels: Array) -> Panels:
    """Maps of amounts, one for each titled array, that let the image show through where there is little."""
    high, under = float(np.nan_to_num(np.stack([one for _, one in arrays])).max()), backdrop(pixels)
    shown = []
    for title, array in arrays:
        plain = _map(title, array, axes, Ends(0.0, high, Scale.VEIL))
        row, column = np.unravel_index(int(np.nan_to_num(array).argmax()), array.shape)
        most = say("figure.most", row=row, column=column)
        described = f"{plain.description}, {most}"
        shown.append(replace(plain, description=described, image=veil(array, high), under=under))
    return Panels(tuple(shown), (_legend("", Ends(0.0, high, Scale.VEIL)),))


def comparison(kept: Kept, axes: Axes, root: bool = False) -> tuple[Panels, ...]:
    """The student's tensor, and where it is wrong, the predicted one and how far apart they are, by heads.

    With ``root`` colours follow the square roots of numbers that are all zero or more.
    """
    heads = _heads(kept)
    if "error" not in kept.arrays:
        both = _rooted(ends([arrays["student"] for _, arrays in heads]), root)
        shown = (_map(head or say("figure.student"), one["student"], axes, both) for head, one in heads)
        return (Panels(tuple(shown), (_legend("", both),)),)
    both = _rooted(ends([kept.student, kept.arrays["expected"]]), root)
    apart = ends([kept.arrays["error"]])
    worst = float(np.nan_to_num(kept.arrays["error"], nan=np.inf).max())
    rows = [Panels(_three(head, arrays, axes, both, apart, worst)) for head, arrays in heads]
    scales = (_legend(say("figure.values"), both), _legend(say("figure.difference"), apart))
    return (*rows[:-1], replace(rows[-1], legends=scales))


def _rooted(plain: Ends, root: bool) -> Ends:
    return plain._replace(root=root and plain.scale is Scale.AMOUNT)


def _three(
    head: str, arrays: Mapping[str, Array], axes: Axes, both: Ends, apart: Ends, worst: float
) -> tuple[Map, ...]:
    """All with a frame where the difference is largest, if it is the largest of all heads."""
    differences = np.nan_to_num(arrays["error"], nan=np.inf)
    row, column = np.unravel_index(int(differences.argmax()), differences.shape)
    marked = (int(row), int(column)) if float(differences.max()) == worst else None
    scales = {"student": both, "expected": both, "error": apart}
    plain = (_map(_titled(head, name), arrays[name], axes, scales[name]) for name in _NAMES)
    return tuple(replace(one, marked=marked) for one in plain)


def _titled(head: str, name: str) -> str:
    title = say(f"figure.{name}")
    return say("figure.of_head", head=head, title=title) if head else title


def matrix(array: Array) -> Array:
    """``array`` with two axes: one row where it has one, else all but the first in one."""
    return array.reshape(1, -1) if array.ndim < 2 else array.reshape(len(array), -1)


def _heads(kept: Kept) -> list[tuple[str, dict[str, Array]]]:
    """The kept arrays with two axes: the first heads one by one where there are heads."""
    shown = {name: kept.arrays[name] for name in _NAMES if name in kept.arrays}
    if kept.student.ndim != 3:
        return [("", {name: matrix(array) for name, array in shown.items()})]
    heads = range(min(_MOST, len(kept.student)))
    return [
        (say("axis.head", head=kept.head + head), {name: array[head] for name, array in shown.items()})
        for head in heads
    ]


def ends(arrays: Sequence[Array]) -> Ends:
    """The scale that holds all of ``arrays``: from zero where none is below it, else as far to both sides."""
    numbers = np.concatenate([one[np.isfinite(one)] for one in arrays])
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 1.0)
    far = max(-low, high)
    return Ends(0.0, high, Scale.AMOUNT) if low >= 0 else Ends(-far, far, Scale.SIGNED)


def coloured(array: Array, scale: Ends) -> str:
    """A data URI of ``array``, a pixel for each number."""
    if not scale.root:
        return picture(array, scale.low, scale.high, scale.scale)
    with np.errstate(invalid="ignore"):
        return picture(np.sqrt(np.maximum(array, 0.0)), 0.0, float(np.sqrt(scale.high)), scale.scale)


def _legend(title: str, scale: Ends) -> Legend:
    told = say("figure.root", title=title or say("figure.values")) if scale.root else title
    return Legend(told, ramp(scale.scale), numeral(scale.low), numeral(scale.high))


def _map(title: str, array: Array, axes: Axes, scale: Ends) -> Map:
    rows, columns = array.shape
    size = say("figure.size", rows=rows, row=axes[0], columns=columns, column=axes[1])
    return Map(
        title=title,
        description=f"{title}: {size}, {_range(array)}",
        image=coloured(array, scale),
        columns=columns,
        rows=rows,
        cell=cell_of(columns),
        axes=axes,
        cells=" ".join(map(numeral, array.ravel().tolist())) if array.size <= _READ else "",
    )


def _range(array: Array) -> str:
    finite = array[np.isfinite(array)]
    if not finite.size:
        return say("figure.not_finite")
    return say("figure.between", low=numeral(float(finite.min())), high=numeral(float(finite.max())))


def cell_of(columns: int) -> float:
    """The side of a cell in pixels."""
    return round(min(max(_WIDTH / columns, _CELLS[0]), _CELLS[1], _WIDEST / columns), 2)
