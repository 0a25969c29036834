"""Numbers as coloured pixels: two scales that the colour-blind can read, on light and on dark paper."""

from __future__ import annotations

import io
from base64 import b64encode
from enum import Enum
from functools import cache

import numpy as np
from PIL import Image, ImageColor

from .kept import Array

_COLOURS = 255  # the index after the last one is see-through


class Scale(Enum):
    """Anchors of a scale at equal distances; lightness alone tells them apart."""

    AMOUNT = "#00224e #123570 #3b496c #575d6d #707173 #8a8678 #a59c74 #c3b369 #fee838"  # cividis
    SIGNED = "#1f4e9a #6a9bd1 #c5d9ec #f2f0eb #f3cfa4 #dd8f3a #9c4a00"  # blue below zero, orange above


def picture(cells: Array, low: float, high: float, scale: Scale) -> str:
    """A data URI of a PNG with one pixel a number; a number that is not one is see-through."""
    with np.errstate(invalid="ignore"):
        shares = np.clip((cells - low) / ((high - low) or 1.0), 0.0, 1.0)
    indices = np.where(np.isnan(shares), _COLOURS, np.round(np.nan_to_num(shares) * (_COLOURS - 1)))
    image = Image.fromarray(indices.astype(np.uint8))
    image.putpalette(_palette(scale))
    return _uri(image, transparency=_COLOURS)


def photograph(pixels: Array) -> str:
    """The same of an image (C, H, W): in colour where it has three channels, else the first alone."""
    shown = np.nan_to_num(pixels if len(pixels) == 3 else pixels[:1].repeat(3, axis=0))
    low, high = float(shown.min()), float(shown.max())
    shares = (shown - low) / ((high - low) or 1.0)
    return _uri(Image.fromarray(np.round(255 * shares).astype(np.uint8).transpose(1, 2, 0)))


@cache
def ramp(scale: Scale) -> str:
    """The scale itself, from low to high."""
    return picture(np.linspace(0, 1, 64)[None], 0.0, 1.0, scale)


def _uri(image: Image.Image, **options: int) -> str:
    file = io.BytesIO()
    image.save(file, "PNG", optimize=False, **options)
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode('ascii')}"


@cache
def _palette(scale: Scale) -> list[int]:
    anchors = np.array([ImageColor.getrgb(one)[:3] for one in scale.value.split()], dtype=float)
    at = np.linspace(0, len(anchors) - 1, _COLOURS)
    channels = [np.interp(at, range(len(anchors)), channel) for channel in anchors.T]
    return [*np.stack(channels, 1).round().astype(int).ravel().tolist(), 0, 0, 0]
