"""Sizes and seeds drawn at random.

Sizes that hide mistakes (one head, square grids only, batch 1, equal axes) are not drawn. Hypothesis looks
for the smallest ones (``passes.shrinking``); examples are drawn without it, since what it makes of a seed
depends on its version and on the modules that happen to be loaded.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ..architecture.family import Family


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


def draw_examples(count: int, seed: int, family: Family) -> Iterator[Draw]:
    """``count`` draws, one after the other, the same for the same ``seed`` on every machine."""
    integers = random.Random(seed).randint
    candidates = (drawn(integers, family) for _ in itertools.count())
    return itertools.islice((one for one in candidates if family.sampling.suits(one.sizes)), count)


def drawn(integer: Callable[[int, int], int], family: Family) -> Draw:
    """What one example of the architecture is made from, where ``integer`` gives a number from a range."""
    return Draw(family.sampling.draw(integer), integer(0, 2**31 - 1))
