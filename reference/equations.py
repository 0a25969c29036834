"""The equations of the 26 stages: small pure functions, from which the reference ViT is composed.

Letters are those of the stage table: B batch, C channels, H W image, P patch side, N patches, F = C·P·P,
T = N + 1 tokens, D width, h heads, d = D/h, K classes. Dosovitskiy et al. 2020, arXiv:2010.11929, and
Vaswani et al. 2017, arXiv:1706.03762. Written out rather than fused, so that every stage is a tensor.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def cut_patches(image: Float[Tensor, "B C H W"], patch: int) -> Float[Tensor, "B N C P P"]:
    """Cut windows of side ``patch`` that do not overlap, row by row.

    Raises ValueError where the windows do not fill the image.
    """
    B, C, H, W = image.shape
    if H % patch or W % patch:
        raise ValueError(f"an image of {H}x{W} pixels cannot be cut into patches of side {patch}")
    windows = image.reshape(B, C, H // patch, patch, W // patch, patch)
    return windows.permute(0, 2, 4, 1, 3, 5).flatten(1, 2)


def flatten_patches(patches: Float[Tensor, "B N C P P"]) -> Float[Tensor, "B N C*P*P"]:
    """Lay out each patch as one row of numbers: channel by channel, row by row."""
    return patches.flatten(2)


def linear(
    x: Float[Tensor, "*axes in"],
    weight: Float[Tensor, "out in"],
    bias: Float[Tensor, "out"] | None = None,
) -> Float[Tensor, "*axes out"]:
    """Return ``x · weightᵀ + bias`` along the last axis."""
    product = x @ weight.mT
    return product if bias is None else product + bias


def expand_class_token(token: Float[Tensor, "D"], batch: int) -> Float[Tensor, "B 1 D"]:
    """Give every image the one token, as a view."""
    return token.expand(batch, 1, -1)


def prepend_class_token(
    class_token: Float[Tensor, "B 1 D"], patches: Float[Tensor, "B N D"]
) -> Float[Tensor, "B N+1 D"]:
    """Put the class token in row 0 and the patches after it."""
    return torch.cat([class_token, patches], dim=1)


def add_positions(tokens: Float[Tensor, "B T D"], positions: Float[Tensor, "T D"]) -> Float[Tensor, "B T D"]:
    """Add the same table of positions to every image; the class token has a row in it."""
    return tokens + positions


def standardise(
    x: Float[Tensor, "*axes D"], eps: float | Float[Tensor, "*axes 1"]
) -> Float[Tensor, "*axes D"]:
    """Bring each token to mean 0 and biased variance 1. arXiv:1607.06450."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + eps)


def layer_norm(
    x: Float[Tensor, "*axes D"],
    weight: Float[Tensor, "D"] | None,
    bias: Float[Tensor, "D"] | None,
    eps: float,
) -> Float[Tensor, "*axes D"]:
    """Standardise each token, then scale and shift."""
    normed = standardise(x, eps)
    scaled = normed if weight is None else normed * weight
    return scaled if bias is None else scaled + bias


def split_heads(x: Float[Tensor, "B T D"], heads: int) -> Float[Tensor, "B h T d"]:
    """Split the width into ``heads`` slices of neighbouring features.

    Raises ValueError where the slices do not fill the width.
    """
    if x.shape[-1] % heads:
        raise ValueError(f"a width of {x.shape[-1]} cannot be split into {heads} heads")
    B, T, D = x.shape
    return x.reshape(B, T, heads, D // heads).transpose(1, 2)


def attention_scores(
    query: Float[Tensor, "B h T d"], key: Float[Tensor, "B h T d"]
) -> Float[Tensor, "B h T T"]:
    """Compare each query (row) with each key (column): their product over √d, d the width of one head."""
    return query @ key.mT / math.sqrt(query.shape[-1])


def attention_probabilities(scores: Float[Tensor, "B h T T"]) -> Float[Tensor, "B h T T"]:
    """Take the softmax over the keys, which are the last axis."""
    return torch.softmax(scores, dim=-1)


def attention_context(
    probabilities: Float[Tensor, "B h T T"], value: Float[Tensor, "B h T d"]
) -> Float[Tensor, "B h T d"]:
    """Average the values under each token's probabilities."""
    return probabilities @ value


def merge_heads(context: Float[Tensor, "B h T d"]) -> Float[Tensor, "B T h*d"]:
    """Put the heads of each token side by side; undoes ``split_heads``."""
    return context.transpose(1, 2).flatten(2)


def gelu(x: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """Return ``x · Φ(x)``, Φ the exact normal distribution. Hendrycks and Gimpel 2016, arXiv:1606.08415."""
    return x * (1 + torch.erf(x / math.sqrt(2))) / 2


def quick_gelu(x: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """Return ``x · sigmoid(1.702 x)``, the approximation that CLIP uses. arXiv:1606.08415, section 2."""
    return x * torch.sigmoid(1.702 * x)


def attention_sum(
    x: Float[Tensor, "B T D"], normed: Float[Tensor, "B T D"], attention: Float[Tensor, "B T D"]
) -> Float[Tensor, "B T D"]:
    """Add what attention computed to what went into the block, not to its norm: the skip connection."""
    return x + attention


def mlp_sum(
    x: Float[Tensor, "B T D"],
    attended: Float[Tensor, "B T D"],
    normed: Float[Tensor, "B T D"],
    mlp: Float[Tensor, "B T D"],
) -> Float[Tensor, "B T D"]:
    """Add what the MLP computed to the sum after attention, not to the norm of that sum."""
    return attended + mlp


def report_mlp_sum(
    x: Float[Tensor, "B T D"],
    attended: Float[Tensor, "B T D"],
    normed: Float[Tensor, "B T D"],
    mlp: Float[Tensor, "B T D"],
) -> Float[Tensor, "B T D"]:
    """The same in the report's block, where the skip connection starts at the norm of that sum."""
    return normed + mlp


def class_representation(sequence: Float[Tensor, "B T D"]) -> Float[Tensor, "B D"]:
    """Read out the class token, row 0."""
    return sequence[:, 0]


def class_probabilities(logits: Float[Tensor, "B K"]) -> Float[Tensor, "B K"]:
    """Take the softmax over the classes."""
    return torch.softmax(logits, dim=-1)
