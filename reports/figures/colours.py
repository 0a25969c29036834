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
_SMALL = 64  # pixels along a side
_PALE = 170  # of 255: the darkest grey of a backdrop
_INK, _THICKEST = "#4a1486", 0.8  # of a veil: its colour, and how much of it there is at most


class Scale(Enum):
    """Anchors of a scale at equal distances; lightness alone tells them apart."""

    AMOUNT = "#00224e #123570 #3b496c #575d6d #707173 #8a8678 #a59c74 #c3b369 #fee838"  # cividis
    VEIL = "#dcdcdc #673c97"  # what a veil makes of a backdrop, from none to the thickest
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
    return _photograph_uri(_photograph(pixels))


def backdrop(pixels: Array) -> str:
    """The same in pale grey, for a veil to lie over."""
    grey = np.asarray(_photograph(pixels).convert("L"), dtype=float)
    return _photograph_uri(Image.fromarray((_PALE + (255 - _PALE) * grey / 255).astype(np.uint8)))


def veil(cells: Array, high: float) -> str:
    """A data URI of a PNG with one pixel a number: the closer to ``high``, the less shows through it."""
    shares = np.clip(np.nan_to_num(cells) / (high or 1.0), 0.0, 1.0)
    ink = np.broadcast_to(np.array(ImageColor.getrgb(_INK)), (*cells.shape, 3))
    opaque = np.round(255 * _THICKEST * shares)[..., None]
    return _uri(Image.fromarray(np.concatenate([ink, opaque], -1).astype(np.uint8)))


def _photograph(pixels: Array) -> Image.Image:
    shown = np.nan_to_num(pixels if len(pixels) == 3 else pixels[:1].repeat(3, axis=0))
    low, high = float(shown.min()), float(shown.max())
    shares = (shown - low) / ((high - low) or 1.0)
    return Image.fromarray(np.round(255 * shares).astype(np.uint8).transpose(1, 2, 0))


@cache
def ramp(scale: Scale) -> str:
    """The scale itself, from low to high."""
    return picture(np.linspace(0, 1, 64)[None], 0.0, 1.0, scale)


def _photograph_uri(image: Image.Image) -> str:
    """Small ones exactly, for their pixels are looked at one by one."""
    small = max(image.size) <= _SMALL
    return _uri(image) if small else _uri(image, "JPEG", quality=80)


def _uri(image: Image.Image, form: str = "PNG", **options: int) -> str:
    file = io.BytesIO()
    image.save(file, form, optimize=False, **options)
    return f"data:image/{form.lower()};base64,{b64encode(file.getvalue()).decode('ascii')}"


@cache
def _palette(scale: Scale) -> list[int]:
    anchors = np.array([ImageColor.getrgb(one)[:3] for one in scale.value.split()], dtype=float)
    at = np.linspace(0, len(anchors) - 1, _COLOURS)
    channels = [np.interp(at, range(len(anchors)), channel) for channel in anchors.T]
    return [*np.stack(channels, 1).round().astype(int).ravel().tolist(), 0, 0, 0]
