"""Sizes and seeds drawn at random.

Sizes that hide mistakes (one head, square grids only, batch 1, equal axes) are not drawn. Hypothesis looks
for the smallest ones (``passes.shrinking``) where a small draw does not do; examples are drawn without it,
since what it makes of a seed depends on its version and on the modules that happen to be loaded.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ...submissions.questions.size_limits import pass_numbers
from ..architecture.family import Family

_MANY = 100  # draws, in the time of half a pass
_LARGE_NUMBERS = 1 << 26  # of a pass, 0.5 GB: several times that is held while it is recorded and sent


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


def small_draw(seed: int, family: Family) -> Draw:
    """The smallest of many draws: where a mistake shows there, nobody has to look for smaller sizes."""
    return min(draw_examples(_MANY, seed, family), key=lambda one: pass_numbers(one.sizes))


def few_of_large(found: list[Draw]) -> list[Draw]:
    """Of large draws two, as far as memory goes: one with two images, since one hides what mixes images."""
    one, two = (replace(found[0].sizes, batch=batch) for batch in (1, 2))
    if pass_numbers(two) > _LARGE_NUMBERS:
        return [replace(found[0], sizes=one)]
    others = (replace(draw, sizes=replace(draw.sizes, batch=1)) for draw in found[1:2])
    return [replace(found[0], sizes=two), *others]


def drawn(integer: Callable[[int, int], int], family: Family) -> Draw:
    """What one example of the architecture is made from, where ``integer`` gives a number from a range."""
    return Draw(family.sampling.draw(integer), integer(0, 2**31 - 1))
