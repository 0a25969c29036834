"""Reading a trained ViT: attention rollout, similarity of positions, principal components of patch filters.

Letters as in ``equations``, with gh rows and gw columns of patches. Rollout is Abnar and Zuidema 2020,
arXiv:2005.00928; the figures of positions and filters are those of Dosovitskiy et al. 2020, arXiv:2010.11929.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

RESIDUAL_SHARE = 0.5  # of attention; the rest is the skip connection


def fuse_heads(
    attention: Float[Tensor, "B h T T"], fusion: Literal["mean", "max"] = "mean"
) -> Float[Tensor, "B T T"]:
    """Make one map of all heads: their mean, or the largest of them entry by entry."""
    return attention.mean(dim=1) if fusion == "mean" else attention.amax(dim=1)


def mix_residual(
    attention: Float[Tensor, "*B T T"], share: float = RESIDUAL_SHARE
) -> Float[Tensor, "*B T T"]:
    """Return ``share · A + (1 - share) · I``: a token also keeps what it had, by the skip connection."""
    identity = torch.eye(attention.shape[-1], dtype=attention.dtype, device=attention.device)
    return share * attention + (1 - share) * identity


def normalise_rows(attention: Float[Tensor, "*B T T"]) -> Float[Tensor, "*B T T"]:
    """Divide each row, which belongs to a query, by its sum."""
    return attention / attention.sum(dim=-1, keepdim=True)


def processed_map(
    attention: Float[Tensor, "B h T T"],
    fusion: Literal["mean", "max"] = "mean",
    share: float = RESIDUAL_SHARE,
) -> Float[Tensor, "B T T"]:
    """Return what the rollout is made of: heads fused, the residual mixed in, rows brought to 1 again."""
    return normalise_rows(mix_residual(fuse_heads(attention, fusion), share))


def attention_rollout(maps: Sequence[Float[Tensor, "*B T T"]]) -> Float[Tensor, "*B T T"]:
    """Return the product of the maps of all layers, the first layer rightmost: A(i) · rollout(i - 1)."""
    rollout = maps[0]
    for one in maps[1:]:
        rollout = one @ rollout
    return normalise_rows(rollout)


def class_token_map(rollout: Float[Tensor, "B T T"], grid: tuple[int, int]) -> Float[Tensor, "B gh gw"]:
    """Lay out how much the class token (row 0) reads from each patch, without itself, as the patches lie."""
    return rollout[:, 0, 1:].reshape(-1, *grid)


def resize_map(maps: Float[Tensor, "B gh gw"], size: tuple[int, int]) -> Float[Tensor, "B H W"]:
    """Stretch to the image's height and width, bilinearly, with pixel centres where they are."""
    return F.interpolate(maps[:, None], size=size, mode="bilinear", align_corners=False)[:, 0]


def position_similarity(
    positions: Float[Tensor, "N D"], grid: tuple[int, int]
) -> Float[Tensor, "gh gw gh gw"]:
    """Return the cosine of each patch's position embedding to each other's, both laid out as patches lie."""
    unit = positions / positions.norm(dim=-1, keepdim=True)
    similarity: Tensor = unit @ unit.mT
    return similarity.reshape(*grid, *grid)


def filter_components(weight: Float[Tensor, "D C P P"], count: int = 28) -> Float[Tensor, "components C P P"]:
    """Return the first principal components of the D patch filters, each of length 1, largest variance first.

    The sign of each is arbitrary. There are at most as many as filters, or numbers in one.
    """
    filters = weight.flatten(1)
    centred = filters - filters.mean(dim=0, keepdim=True)
    directions: Tensor = torch.linalg.svd(centred, full_matrices=False)[2]
    return directions[:count].reshape(-1, *weight.shape[1:])
