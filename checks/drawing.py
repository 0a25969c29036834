"""Sizes and seeds drawn at random, and the smallest ones at which something fails.

Integers and a seed are drawn, never arrays, so that shrinking yields small dimensions. Sizes that hide
mistakes (one head, square grids only, batch 1, equal axes) are not drawn. Hypothesis looks for the smallest
ones; examples are drawn without it, since what it makes of a seed depends on its version and on the modules
that happen to be loaded.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass

import hypothesis
import torch
from hypothesis import strategies as st
from torch import Tensor

from ..reference.sizes import Sizes

_DEPTH = 3  # "every block reads the first input" shows at three blocks, and no sooner
_SHRINKING_PASSES = 30  # a traced pass each


@dataclass(frozen=True)
class Draw:
    """What one example is made from."""

    sizes: Sizes
    seed: int

    @property
    def image(self) -> Tensor:
        """Standard normal pixels, float64."""
        return noise(self.sizes, self.seed)


def noise(sizes: Sizes, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 1)
    shape = (sizes.batch, sizes.channels, sizes.height, sizes.width)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def draw_examples(count: int, seed: int) -> list[Draw]:
    """``count`` draws, the same for the same ``seed`` on every machine."""
    integers = random.Random(seed).randint
    candidates = (_drawn(integers) for _ in itertools.count())
    return list(itertools.islice((one for one in candidates if _suits(one.sizes)), count))


@st.composite
def draws(draw: st.DrawFn) -> Draw:
    """The same for hypothesis, which prefers small sizes."""
    drawn = _drawn(lambda low, high: draw(st.integers(low, high)))
    hypothesis.assume(_suits(drawn.sizes))
    return drawn


def _drawn(integer: Callable[[int, int], int]) -> Draw:
    """A batch of small images and a small ViT, where ``integer`` gives a number from a range."""
    heads, head_dim = integer(2, 4), integer(3, 8)
    rows, columns, patch = integer(2, 4), integer(2, 5), integer(2, 4)
    sizes = Sizes(
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
    return Draw(sizes, integer(0, 2**31 - 1))


def _suits(sizes: Sizes) -> bool:
    # sines and cosines of rows and columns share the width
    return sizes.embed_dim % 4 == 0 and sizes.height != sizes.width and tells_apart(sizes)


def tells_apart(sizes: Sizes) -> bool:
    """Do axes that could be exchanged by mistake have different sizes, square images aside?"""
    return (
        sizes.patches != sizes.axes["F"]
        and sizes.head_dim not in (sizes.heads, sizes.patch)
        and len({sizes.batch, sizes.tokens, sizes.patches, sizes.heads}) == 4
        and sizes.embed_dim not in (sizes.mlp_dim, sizes.classes)
    )


def smallest(fails: Callable[[Draw], bool], seed: int) -> Draw | None:
    """The smallest draw at which ``fails`` is true; None where none is met in a bounded search."""
    known: dict[Draw, bool] = {}  # hypothesis asks for some draws again, and must get the same answer

    def bounded(draw: Draw) -> bool:
        if draw not in known:
            known[draw] = len(known) < _SHRINKING_PASSES and fails(draw)
        return known[draw]

    options = hypothesis.settings(
        max_examples=_SHRINKING_PASSES,
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    try:
        return hypothesis.find(draws(), bounded, settings=options, random=random.Random(seed))
    except hypothesis.errors.NoSuchExample:
        return None
