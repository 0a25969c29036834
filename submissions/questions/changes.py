"""Small changes of a submission's code, each tried in one plain pass, and what tells which make sense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..reading.edits.edit import Edit
from .question import IN_A_PASS, Natural, OfModel

_MOST_MADE = 2_000  # tensors of one pass of which a sum is told


@dataclass(frozen=True)
class HeldAt:
    """What names hold before a line first runs, each in a word or two.

    A ``tensor`` with its shape, a ``layer`` with its class, a ``number``, a ``function``, or a type's name.
    """

    file: str
    line: Natural
    names: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class WatchNames(OfModel[tuple[HeldAt, ...]]):
    """What names hold while the model is built and in one pass, up to where it may raise an exception."""

    name = "names"
    doing = IN_A_PASS

    image: Tensor


@dataclass(frozen=True)
class ChangedPass:
    """What the model returned with a change: float64; nothing where it raised or the change does nothing.

    ``cost`` is how many passes that took, nearly: 0 where it was not tried. ``sums`` are of the tensors of
    the size that was asked about, in order: all numbers added up, and their squares.
    """

    cost: Natural
    tensors: tuple[Tensor, ...] = ()
    sums: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        if {one.dtype for one in self.tensors} - {torch.float64}:
            raise ValueError("what was returned comes in another type")
        if len(self.sums) > _MOST_MADE:
            raise ValueError(f"{len(self.sums)} sums are told of one pass")


@dataclass(frozen=True, kw_only=True)
class TryChanges(OfModel[tuple[ChangedPass, ...]]):
    """One pass over the image for each of the ``changes``, with the same weights.

    ``texts`` are the files that they are made in, as they were loaded. ``numbers`` is the size of the tensors
    of which sums are wanted; 0 where of none.
    """

    name = "changes"
    doing = IN_A_PASS

    image: Tensor
    texts: Mapping[str, str]
    changes: Sequence[Edit]
    numbers: int = 0

    def demand(self, answer: tuple[ChangedPass, ...]) -> None:
        if len(answer) != len(self.changes):
            raise ValueError(f"{len(answer)} passes instead of {len(self.changes)}")
