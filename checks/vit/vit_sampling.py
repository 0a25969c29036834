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
    return sizes.embed_dim % 4 == 0 and sizes.height != sizes.width and tells_apart(sizes)


def tells_apart(sizes: Sizes) -> bool:
    """Do axes that could be exchanged by mistake have different sizes, square images aside?"""
    return (
        sizes.patches != sizes.axes["F"]
        and sizes.head_dim not in (sizes.heads, sizes.patch)
        and len({sizes.batch, sizes.tokens, sizes.patches, sizes.heads}) == 4
        and sizes.embed_dim not in (sizes.mlp_dim, sizes.classes, sizes.tokens, sizes.patches, *sizes.grid)
        and sizes.classes != sizes.heads
    )


VIT_SAMPLING = Sampling(
    draw=draw,
    suits=suits,
    tells_apart=tells_apart,
    fresh=Sizes(height=16, width=16, patch=4, embed_dim=64, heads=4, mlp_dim=256, depth=3, classes=10),
)
