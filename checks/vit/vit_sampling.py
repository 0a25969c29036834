"""Which sizes a Vision Transformer is tried at. Imports no torch."""

from __future__ import annotations

from ...reference.sizes import Sizes
from ..architecture.sampling import Integer, Sampling

_DEPTH = 3  # "every block reads the first input" shows at three blocks, and no sooner


def draw(integer: Integer) -> Sizes:
    """A batch of small images and a small ViT."""
    heads, head_dim = integer(2, 4), integer(3, 8)
    rows, columns, patch = integer(2, 4), integer(2, 5), integer(2, 4)
    return Sizes(
        batch=integer(2, 4),
        channels=integer(1, 4),
        height=rows * patch,
        width=columns * patch,
        patch=patch,
        embed_dim=heads * head_dim,
        heads=heads,
        mlp_dim=integer(1, 4) * heads * head_dim,
        depth=_DEPTH,
        classes=integer(3, 11),
    )


def suits(sizes: Sizes) -> bool:
    """Do they hide no mistake of a ViT?"""
    # sines and cosines of rows and columns share the width
    return sizes.embed_dim % 4 == 0 and sizes.height != sizes.width and not coincidences(sizes)


def coincidences(sizes: Sizes) -> int:
    """How many axes that could be exchanged by mistake have the same size, square images aside?"""
    counts = sizes.batch, sizes.tokens, sizes.patches, sizes.heads
    same = (
        sizes.patches == sizes.axes["F"],
        {sizes.patch} == {*sizes.grid},  # of others one side shows what is counted in patches
        sizes.head_dim in (sizes.heads, sizes.patch),
        len({*counts}) < len(counts),
        sizes.embed_dim in (sizes.mlp_dim, sizes.classes, sizes.tokens, sizes.patches, *sizes.grid),
        sizes.classes == sizes.heads,
    )
    return sum(same)


VIT_SAMPLING = Sampling(
    draw=draw,
    suits=suits,
    coincidences=coincidences,
    fresh=Sizes(height=16, width=16, patch=4, embed_dim=64, heads=4, mlp_dim=256, depth=3, classes=10),
)
