"""The image and its patches."""

from __future__ import annotations

import numpy as np

from ..wording import say
from .colours import Scale, photograph, picture
from .kept import Array, Kept
from .maps import cell_of
from .shapes import Map, Number, Panels

_GAP = 1  # between patches, in pixels


def image(kept: Kept) -> Panels:
    """The image that was drawn, under the grid of patches that the equation cuts."""
    pixels, side = kept.arrays["pixels"], kept.student.shape[-1]
    _, rows, columns = pixels.shape
    title = say("grid.image", image=kept.image)
    described = say("grid.image_description", rows=rows, columns=columns, side=side)
    plain = Map(title, described, photograph(pixels), columns, rows, cell_of(columns), ruled=side)
    return Panels((plain,))


def patches(kept: Kept) -> Panels:
    """Where each pixel stands in the image, and where the student's patches have theirs from."""
    side, sources = kept.student.shape[-1], kept.arrays["sources"][:, 0]
    _, height, width = kept.arrays["pixels"].shape
    columns = width // side
    most = float(columns * (height // side))
    whole = _image_sources(height, width, side)
    numbers = _numbers(range(columns * (height // side)), side, 0, columns)
    legend = Map(
        say("grid.sources"),
        say("grid.sources_description", patches=int(most)),
        picture(whole, 0.0, most, Scale.AMOUNT),
        width,
        height,
        cell_of(width),
        ruled=side,
        numbers=numbers,
    )
    return Panels((legend, _cut(sources, columns, most)))


def flattened(kept: Kept) -> Panels:
    """Where the numbers of each row come from."""
    sources = kept.arrays["sources"]
    rows, columns = sources.shape
    described = say("grid.rows_description", rows=rows, columns=columns)
    cells = picture(sources, 0.0, float(rows), Scale.AMOUNT)
    return Panels((Map(say("grid.rows"), described, cells, columns, rows, cell_of(columns)),))


def _cut(sources: Array, columns: int, most: float) -> Map:
    """Patches in reading order, with gaps between them."""
    count, side, _ = sources.shape
    step, lines = side + _GAP, -(-count // columns)
    cells = np.full((lines * step - _GAP, columns * step - _GAP), np.nan, dtype=np.float32)
    for number, patch in enumerate(sources):
        y, x = (number // columns) * step, (number % columns) * step
        cells[y : y + side, x : x + side] = patch
    whole = sum(len(set(np.floor(one[np.isfinite(one)]).tolist())) == 1 for one in sources)
    described = say("grid.cut_description", whole=whole, count=count)
    rows, width = cells.shape
    numbers = _numbers(range(count), side, _GAP, columns)
    uri = picture(cells, 0.0, most, Scale.AMOUNT)
    return Map(say("grid.cut"), described, uri, width, rows, cell_of(width), numbers=numbers)


def _image_sources(height: int, width: int, side: int) -> Array:
    y, x = np.mgrid[:height, :width]
    share = ((y % side) * side + x % side) / side**2
    cells: Array = ((y // side) * (width // side) + x // side + share).astype(np.float32)
    return cells


def _numbers(patches: range, side: int, gap: int, columns: int) -> tuple[Number, ...]:
    step = side + gap
    middles = [((one % columns) * step + side / 2, (one // columns) * step + side / 2) for one in patches]
    return tuple(Number(x, y, str(one)) for one, (x, y) in zip(patches, middles, strict=True))
