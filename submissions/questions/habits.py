"""How a forward pass behaves beside its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..errors import Frame
from .question import OfModel


@dataclass(frozen=True)
class Habit:
    """Something that a forward pass does beside computing.

    Its kind is a ``device`` that differs between two tensors that meet, what is ``random``, ``no_grad`` and
    ``detach`` where a gradient would flow, a ``module`` that is made, and ``fused`` attention.
    """

    kind: str
    what: str
    frames: tuple[Frame, ...]  # lines of the student's code, innermost first


@dataclass(frozen=True, kw_only=True)
class WatchHabits(OfModel[tuple[Habit, ...]]):
    """One pass in eval mode, watched call by call, up to where it may raise an exception."""

    name = "habits"

    image: Tensor
