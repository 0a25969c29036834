"""Weights that the parent can make as well, without sending them: windows on one pool of random numbers.

To draw as many as a model of full width has would take longer than its pass.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

_NUMBERS = 1_000_003  # a prime, so that no two rows of a matrix are the same window


class Pooled(NamedTuple):
    """How the values of a parameter follow from its name."""

    scale: float
    shift: float

    def values(self, name: str, shape: Sequence[int], seed: int) -> Tensor:
        """They, in float32."""
        pool, count = _pool(seed), math.prod(shape)
        start = zlib.crc32(name.encode(errors="replace")) % _NUMBERS
        found = torch.empty(count)
        done = 0
        while done < count:
            part = pool[start : start + count - done]
            torch.mul(part, self.scale, out=found[done : done + len(part)])
            done, start = done + len(part), 0
        return (found.add_(self.shift) if self.shift else found).view(tuple(shape))


@lru_cache(maxsize=1)
def _pool(seed: int) -> Tensor:
    return torch.randn(_NUMBERS, generator=torch.Generator().manual_seed(seed))
