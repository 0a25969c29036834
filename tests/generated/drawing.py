"""Choices, and the idioms among which one is drawn.

An idiom is one function, registered for its slot: what it writes is one way of saying one thing. The first of
a slot is the simplest, to which hypothesis shrinks.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

Below: TypeAlias = Callable[[int], int]  # draws one of 0, 1, … below a number
_Write = TypeVar("_Write", bound=Callable[..., Any])


@dataclass(frozen=True)
class Idiom:
    """One way of writing what a slot asks for; drawn ``often`` times as frequently as one with 1."""

    slot: str
    write: Callable[..., Any]
    often: int

    @property
    def name(self) -> str:
        return f"{self.slot}: {self.write.__name__}"


IDIOMS: dict[str, list[Idiom]] = {}


def idiom(slot: str, often: int = 1) -> Callable[[_Write], _Write]:
    """Register the function as an idiom."""

    def register(write: _Write) -> _Write:
        IDIOMS.setdefault(slot, []).append(Idiom(slot, write, often))
        return write

    return register


def by_seed(seed: int | str) -> Below:
    """The draws of a seed: the same for the same seed, without hypothesis."""
    return random.Random(seed).randrange


@dataclass
class Choices:
    """Draws, and remembers what was drawn."""

    below: Below
    made: list[str] = field(default_factory=list)  # names of idioms

    def idiom(self, slot: str) -> Callable[..., Any]:
        """Draw one of a slot."""
        among = IDIOMS[slot]
        ticket = self.below(sum(one.often for one in among))
        for one in among:
            ticket -= one.often
            if ticket < 0:
                break
        self.made.append(one.name)
        return one.write

    def among(self, *texts: str) -> str:
        """Draw one of several words for the same thing."""
        return texts[self.below(len(texts))]

    def once_in(self, count: int) -> bool:
        """Draw something that is so done once in ``count`` programs, and simply left out else."""
        return self.below(count) == count - 1
