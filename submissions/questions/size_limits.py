"""Sizes that the child names are what images are drawn at and passes cost: bounded before that. No torch."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from ...reference.model_sizes import AnySizes, ModelSizes
from ..errors import Refused

MOST_NUMBERS = 1 << 28  # of a pass on one image, 2 GB: three ViT-H/14 blocks at 336 pixels are half

LARGE = 2**14  # numbers in one image's tokens, beyond which a pass takes seconds
_MANY_LEARNED = 2**23  # numbers, beyond which building a model and drawing them does
_MANY = 2**24  # of a pass, 128 MB in float64: many tokens have more scores than features

_OF_SCORES, _OF_WIDTH, _OF_HIDDEN = 4, 20, 4  # tensors of each shape that a block makes
_OF_IMAGE = 3  # itself, its patches, and these flattened


def pass_numbers(sizes: ModelSizes) -> int:
    """About how many numbers a traced pass of a Transformer holds, those of its parameters included."""
    tokens, width, hidden = int(sizes.tokens), sizes.embed_dim, sizes.mlp_dim
    block = _OF_SCORES * sizes.heads * tokens**2 + _OF_WIDTH * tokens * width + _OF_HIDDEN * tokens * hidden
    return _OF_IMAGE * prod(sizes.input_shape) + sizes.batch * sizes.depth * block + _learned(sizes)


def is_large(sizes: ModelSizes) -> bool:
    """Does a pass at these sizes cost seconds?"""
    is_wide = sizes.embed_dim * sizes.tokens > LARGE
    return is_wide or _learned(sizes) > _MANY_LEARNED or pass_numbers(sizes) > _MANY


def _learned(sizes: ModelSizes) -> int:
    """About how many numbers the blocks of a Transformer learn."""
    return sizes.depth * (4 * sizes.embed_dim**2 + 2 * sizes.embed_dim * sizes.mlp_dim)


def gradable(sizes: AnySizes, asked: ModelSizes) -> AnySizes:
    """Return the sizes that a model takes where others were asked for.

    Raises Refused where a pass at them, on one image if the model lets the batch be chosen, is too large.
    """
    least = replace(sizes, batch=1) if sizes.batch == asked.batch else sizes
    if pass_numbers(least) > max(MOST_NUMBERS, pass_numbers(asked)):
        read = " × ".join(map(str, least.input_shape[1:]))
        raise Refused(
            f"the model reads {read} numbers at a time, in {least.tokens} tokens of width {least.embed_dim},"
            f" whatever is asked for: a pass computes about {pass_numbers(least):.0e} numbers, and at most"
            f" {MOST_NUMBERS:.0e} can be graded. Let its constructor take its sizes, and a smaller image do"
        )
    return sizes
