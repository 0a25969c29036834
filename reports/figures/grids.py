"""The image and its patches, in colours and numbers that tell where each pixel comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..words.wording import say
from .colours import Scale, photograph, picture
from .figure_parts import Map, Number, Panels
from .kept import Array, Kept
from .maps import cell_of

_GAP = 1  # between patches, in pixels
_ROOM = 18.0  # pixels that a number needs


@dataclass(frozen=True)
class _Grid:
    """An image of so many pixels in patches of ``side`` by ``side``."""

    height: int
    width: int
    side: int

    @property
    def columns(self) -> int:
        return self.width // self.side

    @property
    def patches(self) -> int:
        return self.columns * (self.height // self.side)

    @property
    def sources(self) -> Array:
        """What ``sources`` are where every pixel is in its place."""
        y, x = np.mgrid[: self.height, : self.width]
        share = ((y % self.side) * self.side + x % self.side) / self.side**2
        found: Array = (y // self.side) * self.columns + x // self.side + share
        return found

    def pixel(self, source: float) -> int:
        """The number of a pixel, row by row through the image."""
        patch, within = int(source), round(source % 1 * self.side**2)
        y = patch // self.columns * self.side + within // self.side
        return y * self.width + patch % self.columns * self.side + within % self.side


def image(kept: Kept) -> Panels:
    """The image that was drawn, under the grid of patches that the equation cuts."""
    pixels, side = kept.arrays["pixels"], _grid(kept).side
    _, rows, columns = pixels.shape
    title = say("grid.image", image=kept.image)
    described = say("grid.image_description", rows=rows, columns=columns, side=side)
    return Panels((Map(title, described, photograph(pixels), columns, rows, cell_of(columns), ruled=side),))


def patches(kept: Kept) -> Panels:
    """The pixels of the image, and those in each of the student's patches."""
    grid = _grid(kept)
    described = say("grid.sources_description", patches=grid.patches)
    whole = _map(say("grid.sources"), described, grid.sources, grid, ruled=grid.side)
    return Panels((whole, _cut(kept.arrays["sources"][:, 0], grid)))


def tiles(kept: Kept) -> Panels:
    """The student's patches as pictures, row by row, with gaps between them."""
    numbers, grid = kept.arrays["tiles"], _grid(kept)
    coloured = numbers if numbers.shape[1] == 3 else numbers[:, :1].repeat(3, axis=1)
    whole = _spread(coloured, grid, 255.0)
    _, rows, columns = whole.shape
    described = say("grid.tiles_description", count=len(numbers), side=grid.side)
    return Panels((Map(say("grid.tiles"), described, photograph(whole), columns, rows, cell_of(columns)),))


def flattened(kept: Kept) -> Panels:
    """The pixels in each of the student's rows."""
    rows, columns = kept.arrays["sources"].shape
    described = say("grid.rows_description", rows=rows, columns=columns)
    return Panels((_map(say("grid.rows"), described, kept.arrays["sources"], _grid(kept)),))


def _grid(kept: Kept) -> _Grid:
    height, width, side = kept.arrays["grid"].astype(int).tolist()
    return _Grid(height, width, side)


def _cut(sources: Array, grid: _Grid) -> Map:
    whole = sum(len(set(np.floor(one[np.isfinite(one)]).tolist())) == 1 for one in sources)
    described = say("grid.cut_description", whole=whole, count=len(sources))
    return _map(say("grid.cut"), described, _spread(sources, grid, np.nan), grid)


def _spread(patches: Array, grid: _Grid, between: float) -> Array:
    """Patches in reading order, with gaps between them."""
    step, lines = grid.side + _GAP, -(-len(patches) // grid.columns)
    whole = np.full((*patches.shape[1:-2], lines * step - _GAP, grid.columns * step - _GAP), between)
    for number, patch in enumerate(patches):
        y, x = (number // grid.columns) * step, (number % grid.columns) * step
        whole[..., y : y + grid.side, x : x + grid.side] = patch
    return whole


def _map(title: str, described: str, sources: Array, grid: _Grid, ruled: int = 0) -> Map:
    rows, columns = sources.shape
    cell = cell_of(columns)
    uri = picture(sources, 0.0, float(grid.patches), Scale.AMOUNT)
    numbers = _numbers(sources, grid) if cell >= _ROOM else ()
    return Map(title, described, uri, columns, rows, cell, ruled=ruled, numbers=numbers)


def _numbers(sources: Array, grid: _Grid) -> tuple[Number, ...]:
    return tuple(
        Number(int(x) + 0.5, int(y) + 0.5, str(grid.pixel(float(sources[y, x]))))
        for y, x in np.argwhere(np.isfinite(sources))
    )
