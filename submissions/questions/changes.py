"""Small changes of a submission's code, each tried in one plain pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..reading.edits import Edit
from .question import IN_A_PASS, OfModel


@dataclass(frozen=True)
class ChangedPass:
    """What the model returned with a change: float64, and nothing where it raised or the change does nothing.

    It is not ``tried`` where the model is built with what is changed.
    """

    tried: bool
    tensors: tuple[Tensor, ...] = ()

    def __post_init__(self) -> None:
        if {one.dtype for one in self.tensors} - {torch.float64}:
            raise ValueError("what was returned comes in another type")


@dataclass(frozen=True, kw_only=True)
class TryChanges(OfModel[tuple[ChangedPass, ...]]):
    """One pass over the image for each of the ``changes``, with the same weights.

    ``texts`` are the files that they are made in, as they were loaded.
    """

    name = "changes"
    doing = IN_A_PASS

    image: Tensor
    texts: Mapping[str, str]
    changes: Sequence[Edit]

    def demand(self, answer: tuple[ChangedPass, ...]) -> None:
        if len(answer) != len(self.changes):
            raise ValueError(f"{len(answer)} passes instead of {len(self.changes)}")
