"""A picture of the reader's own, as the input of a model. Imports no torch until it becomes one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from ....reference.model_sizes import ModelSizes
from ....reference.sizes import Sizes
from ...assignment.assignment import Assignment
from ...record.snapshot import PictureResult

if TYPE_CHECKING:
    from torch import Tensor


class PictureError(Exception):
    """A picture that cannot be used; the message names it and says what to do."""


@dataclass(frozen=True)
class Picture:
    """A picture in memory, named after its file."""

    name: str
    image: Image.Image

    @property
    def told(self) -> PictureResult:
        return PictureResult(name=self.name, width=self.image.width, height=self.image.height)

    def at(self, sizes: ModelSizes) -> Tensor:
        """Return it as S01 by the reference's preprocessing: ``(1, 3, H, W)``, float64.

        Raises PictureError where the model does not read square RGB images, or pixels have no clear scale.
        """
        from ....reference.preprocessing import to_input

        if not isinstance(sizes, Sizes):
            raise PictureError(f"{self.name} is an image, but models of this architecture do not read images")
        if sizes.height != sizes.width or sizes.channels != 3:
            raise PictureError(
                f"{self.name} becomes a square RGB image, but the model reads {sizes.channels} × "
                f"{sizes.height} × {sizes.width}: choose an assignment or model with 3 channels and "
                "height = width"
            )
        try:
            return to_input(self.image, sizes.height).double()
        except ValueError as error:
            raise PictureError(f"{self.name} cannot be used as an image: {error}") from None


def demand_a_model(assignment: Assignment) -> None:
    """Raises PictureError for an assignment that asks for parts alone."""
    if not assignment.architectures:
        raise PictureError(
            f"{assignment.name} asks for parts of a model alone, but a picture needs a whole one: "
            "choose an assignment with architectures, such as vit-debugging"
        )


def read_picture(path: Path) -> Picture:
    """Decode a picture of any format that Pillow knows. Raises PictureError where it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            opened = Image.open(path)
            with opened:
                opened.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise PictureError(f"{path} has more pixels than Pillow opens: save a smaller copy of it") from None
    except (OSError, ValueError, SyntaxError) as error:  # the last of PNG files that are broken
        raise PictureError(
            f"{path} is not an image that can be read ({error}): give it as PNG or JPEG"
        ) from None
    return Picture(path.name, opened)
