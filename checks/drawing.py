"""Sizes and seeds drawn by hypothesis, and the smallest ones at which something fails.

Integers and a seed are drawn, never arrays, so that shrinking yields small dimensions. Sizes that hide
mistakes (one head, square grids only, batch 1, equal axes) are not drawn.
"""

from __future__ import annotations

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


@st.composite
def draws(draw: st.DrawFn) -> Draw:
    """A batch of small images and a small ViT, all of whose axes can be told apart."""
    heads, head_dim = draw(st.integers(2, 4)), draw(st.integers(3, 8))
    hypothesis.assume(heads * head_dim % 4 == 0)  # sines and cosines of rows and columns share the width
    rows, columns = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    patch, batch = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    sizes = Sizes(
        batch=batch,
        channels=draw(st.integers(1, 4)),
        height=rows * patch,
        width=columns * patch,
        patch=patch,
        embed_dim=heads * head_dim,
        heads=heads,
        mlp_dim=draw(st.integers(1, 4)) * heads * head_dim,
        depth=_DEPTH,
        classes=draw(st.integers(3, 11)),
    )
    hypothesis.assume(rows != columns and head_dim not in (heads, patch))
    hypothesis.assume(len({sizes.batch, sizes.tokens, sizes.patches, heads}) == 4)
    hypothesis.assume(sizes.mlp_dim != sizes.embed_dim and sizes.classes != sizes.embed_dim)
    return Draw(sizes, draw(st.integers(0, 2**31 - 1)))


def draw_examples(count: int, seed: int) -> list[Draw]:
    """``count`` draws, the same for the same ``seed``."""
    drawn: list[Draw] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        phases=[hypothesis.Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(draws())
    def collect(one: Draw) -> None:
        drawn.append(one)

    collect()
    return drawn


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
