"""The normalisation of images, undone; apart from what imports torchvision."""

from jaxtyping import Float
from torch import Tensor

from .imagenet import IMAGENET_MEAN, IMAGENET_STD


def undo(tensor: Float[Tensor, "B 3 H W"]) -> Float[Tensor, "B 3 H W"]:
    """Undo the normalisation of `to_input`: pixels in [0, 1]."""
    mean, std = (tensor.new_tensor(values)[:, None, None] for values in (IMAGENET_MEAN, IMAGENET_STD))
    return tensor * std + mean
