"""How much may be tried to find out how a model is built: counted by what is computed, never by a clock.

On a busy machine the same way must be found. The request as a whole has a clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from ..tracing.dispatch_mode import Mode

# Drawing so many parameters, or computing so many numbers, takes as long as a try of a model of few of both.
_PARAMETERS_OF_A_TRY, _NUMBERS_OF_A_TRY = 1 << 19, 1 << 18


class Effort:
    """How often a search may still try: a small model often, a large one seldom."""

    def __init__(self, tries: int) -> None:
        self._left = float(tries)

    def spend(self, parameters: int, numbers: int) -> None:
        """One try of a model of so many ``parameters``, of which a pass computed so many ``numbers``."""
        self._left -= 1 + parameters / _PARAMETERS_OF_A_TRY + numbers / _NUMBERS_OF_A_TRY

    @property
    def is_spent(self) -> bool:
        return self._left <= 0

    @property
    def numbers(self) -> float:
        """How many one more pass may compute."""
        return self._left * _NUMBERS_OF_A_TRY


@contextmanager
def taken_apart() -> Iterator[None]:
    """Meanwhile attention is computed step by step, since a fused call shows none of what it computes."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


class TooLarge(Exception):
    """A pass computes more than there is effort for."""


class Computed(Mode):  # type: ignore[no-untyped-call]  # torch's base class has no annotations
    """Counts operations inside it, and the ``numbers`` that they give; beyond ``most`` it raises TooLarge."""

    def __init__(self, most: float = inf) -> None:
        super().__init__()
        self.numbers = self.operations = 0
        self._most = most

    def run(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if self.numbers > self._most:
            raise TooLarge
        given = func(*args, **kwargs)
        self.operations += 1
        self.numbers += given.numel() if isinstance(given, Tensor) else 0
        return given
