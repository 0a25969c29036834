"""How far an explanation is looked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any


@dataclass(frozen=True)
class Patience:
    """The prices and the work at which a search gives up."""

    # up to which an explanation is better than none, since something was certain, or queries met keys
    price: float = 3.5
    most: float = inf  # of the whole explanation
    look_ups: int = 60_000  # of single values; a search that explains nothing stops there
    admits: Callable[[Any], bool] = lambda _: True  # may this step have been settled?


USUAL = Patience()
BRIEF = Patience(price=0.9, look_ups=6_000)  # for what is right, or not worth a longer look
