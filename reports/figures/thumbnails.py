"""A stage's tensor as a picture of a few pixels, to be recognised by."""

from __future__ import annotations

import numpy as np

from .colours import photograph
from .kept import Array, Kept
from .maps import coloured, ends, matrix

_SIDE = 24  # rows and columns that are left of a larger tensor


def thumbnail(kept: Kept, of_image: bool = False) -> str:
    """A data URI of the image itself, or of the student's tensor, the first head alone; empty without one."""
    if of_image:
        pixels = kept.arrays.get("pixels")
        return (
            ""
            if pixels is None
            else photograph(pixels[:, _few(pixels.shape[1])][:, :, _few(pixels.shape[2])])
        )
    array = kept.arrays.get("student")
    if array is None or not array.size:
        return ""
    while array.ndim > 2 and len(array) < array.shape[-1]:
        array = array[0]
    cells = matrix(array)
    cells = cells[_few(len(cells))][:, _few(cells.shape[1])]
    return coloured(cells, ends([cells]))


def _few(count: int) -> Array:
    """Places at equal distances, all where there are few."""
    return np.unique(np.linspace(0, count - 1, min(count, _SIDE)).round()).astype(int)
