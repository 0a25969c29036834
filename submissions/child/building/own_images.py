"""Images as the student's own code makes them: a model of one size may be meant for no others."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress

from ....reference.sizes import Sizes
from ..loading.definitions import Definitions
from .trial_sizes import fit

_CHANNELS = 3, 1
_MOST_BANDS = 4  # of an image that has more than its colours
_LEAST_SIDE = 8
_MOST = 4  # different ones


def with_own_images(sizes: Sizes, definitions: Definitions) -> list[Sizes]:
    """The nearest sizes with images as they stand in the code, the first ones first.

    They are three or four whole numbers side by side, such as ``torch.rand(8, 3, 24, 32)``: channels and
    sides, the channels first.
    """
    return _with(sizes, (shape for row in _rows(definitions, (3, 4)) for shape in _shapes(row[-3:])))


def with_own_batches(sizes: Sizes, definitions: Definitions) -> list[Sizes]:
    """The same for four numbers alone, of which the first counts the images."""
    return _with(sizes, (shape for row in _rows(definitions, (4,)) for shape in _shapes(row)))


def with_own_sides(sizes: Sizes, definitions: Definitions) -> list[Sizes]:
    """The same for two numbers side by side, which may be the sides of an image: ``tile = (64, 96)``."""
    pairs = _rows(definitions, (2,))
    return _with(sizes, (shape for row in pairs for count in _CHANNELS for shape in _shapes([count, *row])))


def have_channels_last(definitions: Definitions) -> bool:
    """Do batches of images stand in the code, and all with their channels behind their sides?"""
    rows = [row for row in _rows(definitions, (4,), 4) if type(row[0]) is int and row[0] > 0]
    last = [row for row in rows if [*_shapes([row[3], *row[1:3]], range(1, _MOST_BANDS + 1))]]
    return bool(last) and not any([*_shapes(row[1:])] for row in rows)


def _with(sizes: Sizes, shapes: Iterable[tuple[int, int, int]]) -> list[Sizes]:
    return [
        fit(sizes, {"channels": channels, "height": height, "width": width})
        for channels, height, width in list(dict.fromkeys(shapes))[:_MOST]
    ]


def _rows(definitions: Definitions, lengths: tuple[int, ...], last: int = 3) -> Iterator[list[object]]:
    """So many literals side by side, the ``last`` ones: arguments, or what a tuple or a list holds."""
    for node in (node for tree in definitions.trees for node in ast.walk(tree)):
        held = node.args if isinstance(node, ast.Call) else getattr(node, "elts", ())
        if len(held) in lengths:
            with suppress(ValueError):
                yield [definitions.literal(one) for one in held[-last:]]


def _shapes(row: Sequence[object], counts: Container[int] = _CHANNELS) -> Iterator[tuple[int, int, int]]:
    match row:
        case [int() as channels, int() as height, int() as width]:
            if channels in counts and min(height, width) >= _LEAST_SIDE:
                yield channels, height, width
