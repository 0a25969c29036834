"""Sizes and seeds drawn at random.

Sizes that hide mistakes (one head, square grids only, batch 1, equal axes) are not drawn. Hypothesis looks
for the smallest ones in ``shrinking``; examples are drawn without it, since what it makes of a seed depends
on its version and on the modules that happen to be loaded.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch import Tensor

from ..reference.model_sizes import ModelSizes
from ..reference.sizes import Sizes
from ..submissions.session import LARGE
from .family import Family
from .vit import VIT

_DEPTH = 3  # "every block reads the first input" shows at three blocks, and no sooner


@dataclass(frozen=True)
class Draw:
    """What one example is made from."""

    sizes: ModelSizes
    seed: int

    @property
    def image(self) -> Tensor:
        """What the model reads: standard normal pixels in float64, or the ids of tokens."""
        return noise(self.sizes, self.seed)


def noise(sizes: ModelSizes, seed: int) -> Tensor:
    return sizes.input(seed + 1)


def draw_examples(count: int, seed: int, family: Family = VIT) -> Iterator[Draw]:
    """``count`` draws, one after the other, the same for the same ``seed`` on every machine."""
    integers = random.Random(seed).randint
    candidates = (drawn(integers, family) for _ in itertools.count())
    return itertools.islice((one for one in candidates if family.anatomy.suits(one.sizes)), count)


def drawn(integer: Callable[[int, int], int], family: Family) -> Draw:
    """What one example of the architecture is made from, where ``integer`` gives a number from a range."""
    return Draw(family.anatomy.draw(integer), integer(0, 2**31 - 1))


def vit_sizes(integer: Callable[[int, int], int]) -> Sizes:
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


def suits(sizes: ModelSizes) -> bool:
    """Do they hide no mistake of a ViT?"""
    # sines and cosines of rows and columns share the width
    return sizes.embed_dim % 4 == 0 and sizes.height != sizes.width and tells_apart(sizes)


def tells_apart(sizes: ModelSizes) -> bool:
    """Do axes that could be exchanged by mistake have different sizes, square images aside?"""
    return (
        sizes.patches != sizes.axes["F"]
        and sizes.head_dim not in (sizes.heads, sizes.patch)
        and len({sizes.batch, sizes.tokens, sizes.patches, sizes.heads}) == 4
        and sizes.embed_dim not in (sizes.mlp_dim, sizes.classes)
    )


def is_large(sizes: ModelSizes) -> bool:
    """Does a pass at these sizes cost seconds?"""
    return bool(sizes.embed_dim * sizes.tokens > LARGE)
