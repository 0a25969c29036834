"""Child side: where in the memory of a tensor an image may lie."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_MOST_CHANNELS = 4
UNUSUAL_CHANNELS = 2  # as no image has that a script writes out
_CHANNELS = (1, UNUSUAL_CHANNELS, 3)  # of one image
AXES_OF_IMAGES = 4


@dataclass(frozen=True)
class Window:
    """How a tensor lies in its storage."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def is_picture(self) -> bool:
        """Is it B C H W, as an image is?"""
        return len(self.shape) == 4 and self.shape[1] <= _MOST_CHANNELS < min(self.shape[2:])

    def resized(self, shape: tuple[int, ...]) -> Window:
        """The same layout of another shape."""
        strides = [0] * len(shape)
        step = 1
        for axis in sorted(range(len(shape)), key=lambda one: (self.strides[one], -one)):
            strides[axis] = step
            step *= shape[axis]
        return self if shape == self.shape else Window(shape, tuple(strides), 0)

    def fits(self, tensor: Tensor) -> bool:
        """Does it end within the tensor's memory?"""
        last = self.offset + sum((size - 1) * step for size, step in zip(self.shape, self.strides))
        return last < tensor.untyped_storage().nbytes() // tensor.element_size()

    def of(self, tensor: Tensor) -> Tensor:
        return torch.as_strided(tensor.detach(), self.shape, self.strides, self.offset)


def as_images(drawn: Tensor) -> list[Tensor]:
    """As B C H W: views in which it may be square images, without an axis for several or with channels last.

    Three without an axis for their one channel look like one of three channels.
    """
    if drawn.dim() not in (AXES_OF_IMAGES - 1, AXES_OF_IMAGES):
        return [drawn]
    if drawn.shape[-3] == drawn.shape[-2] > _MOST_CHANNELS >= drawn.shape[-1]:
        drawn = drawn.movedim(-1, -3)
    if drawn.dim() == AXES_OF_IMAGES or drawn.shape[1] != drawn.shape[2]:
        return [drawn]
    one = [drawn.unsqueeze(0)] if drawn.shape[0] in _CHANNELS else []
    return [*one, drawn.unsqueeze(1)]
