"""Which sizes a GPT is tried at. Imports no torch."""

from __future__ import annotations

from vitcheck.api import Integer, Sampling

from .sizes import GPTSizes


def draw(integer: Integer) -> GPTSizes:
    """A batch of short texts and a small GPT."""
    heads, head_dim = integer(2, 4), integer(3, 8)
    return GPTSizes(
        batch=integer(2, 4),
        context=integer(5, 9),
        vocabulary=integer(11, 31),
        embed_dim=heads * head_dim,
        heads=heads,
        mlp_dim=integer(1, 4) * heads * head_dim,
        depth=3,
    )


def coincidences(sizes: GPTSizes) -> int:
    """How many axes that could be exchanged by mistake have the size of another?"""
    axes = [sizes.batch, sizes.context, sizes.vocabulary, sizes.heads, sizes.head_dim, sizes.embed_dim]
    return len(axes) - len(set(axes)) + (sizes.mlp_dim in (sizes.embed_dim, sizes.vocabulary))


def suits(sizes: GPTSizes) -> bool:
    """Sines and cosines share the width, which is even for them."""
    return sizes.embed_dim % 2 == 0 and not coincidences(sizes)


GPT_SAMPLING = Sampling(
    draw=draw,
    suits=suits,
    coincidences=coincidences,
    fresh=GPTSizes(batch=2, context=32, vocabulary=100, embed_dim=64, heads=4, mlp_dim=256, depth=3),
)
