"""From an image file to S01, the tensor that the model reads."""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image, ImageOps
from torch import Tensor
from torchvision.transforms.v2 import InterpolationMode, functional

from .imagenet import IMAGENET_MEAN, IMAGENET_STD

BACKGROUND = "white"  # behind transparent pixels, as on a page


def to_input(image: Image.Image | str | Path, size: int = 224) -> Float[Tensor, "1 3 {size} {size}"]:
    """Return any image that Pillow reads as S01: RGB, ``size`` pixels square, normalised as for ImageNet.

    The image is turned as its EXIF tag says, laid on white where it is transparent, and squeezed to a square
    (bilinear, antialiased) without cropping. Of an animation, the first frame. Float32.

    Raises OSError where the path is no readable image, and ValueError where its pixels have no clear scale.
    """
    if not isinstance(image, Image.Image):
        with Image.open(image) as opened:
            return to_input(opened, size)
    rgb = _to_rgb(ImageOps.exif_transpose(image))
    resized = functional.resize(rgb, [size, size], InterpolationMode.BILINEAR, antialias=True)
    pixels = functional.to_dtype(functional.pil_to_tensor(resized), torch.float32, scale=True)
    normalised: Tensor = functional.normalize(pixels, list(IMAGENET_MEAN), list(IMAGENET_STD))
    return normalised.unsqueeze(0)


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "F":
        raise ValueError("floating-point pixels have no fixed scale; save with 8 or 16 bits a pixel")
    if image.mode == "I" or image.mode.startswith("I;16"):
        image = _from_16_bits(image)
    if image.has_transparency_data:
        page = Image.new("RGBA", image.size, BACKGROUND)
        image = Image.alpha_composite(page, image.convert("RGBA"))
    return image.convert("RGB")


def _from_16_bits(image: Image.Image) -> Image.Image:
    """Scale 0 to 65535 down to 0 to 255; Pillow's own conversion would cut everything off at 255."""
    values = np.asarray(image, dtype=np.int64)
    if values.min() < 0 or values.max() > 65535:
        raise ValueError(
            f"grey values from {values.min()} to {values.max()} are not 16-bit ones (0 to 65535); "
            "save with 8 or 16 bits a pixel"
        )
    grey = Image.fromarray(((values + 128) // 257).astype(np.uint8))
    if "transparency" in image.info:  # the one grey that is transparent
        opaque = values != image.info["transparency"]
        grey.putalpha(Image.fromarray(opaque.astype(np.uint8) * 255))
    return grey
