"""One model in every way in which models are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from torch import Tensor

from ..errors import StudentCodeFailed
from .pooled import Pooled
from .question import OfModel
from .recording import Recorded

T = TypeVar("T")  # a recorded pass, as it travels or as it is read

TRAIN = "train", "train again", "train once more", "train at last"  # passes in train mode, by name of the use
# in train mode, where the student's own modules drop a third: how far each of many images reaches its scores,
# and by how much each of these modules multiplies what it keeps
REACH, KEPT = "reach", "kept"


@dataclass(frozen=True)
class UseOutcome:
    """What came out of one use, or why nothing did."""

    outputs: tuple[tuple[str, str], ...]  # path, dtype
    tensors: tuple[Tensor, ...]
    error: StudentCodeFailed | None

    def __post_init__(self) -> None:
        if len(self.tensors) != len(self.outputs):
            raise ValueError(f"{len(self.outputs)} outputs come with {len(self.tensors)} tensors")


@dataclass(frozen=True, kw_only=True)
class TryUses(OfModel[Mapping[str, UseOutcome]]):
    """Every use of the model by name, each with the same weights; each of ``images`` is a use of its own.

    Where only a ``few`` are asked for, those are left out that no honest mistake shows in.
    """

    name = "uses"

    images: Mapping[str, Tensor]
    few: bool


@dataclass(frozen=True)
class Slopes:
    """One direction in which all parameters move: what gradients say of the scores, and what they do."""

    gradients: Mapping[str, float]  # by parameter, the largest; 0 where there is none
    claimed: float = 0.0
    measured: float = 0.0
    spread: float = 0.0  # how large a slope of these parts is, whatever their signs
    error: StudentCodeFailed | None = None


@dataclass(frozen=True, kw_only=True)
class MeasureSlopes(OfModel[Slopes]):
    """The gradient that reaches each parameter, and the slope along one direction, if ``measured``."""

    name = "slopes"

    image: Tensor
    measured: bool


@dataclass(frozen=True)
class Wide(Generic[T]):
    """A pass with weights that ``drawn`` gives by name, and ``held``, which are no parameters.

    ``trace`` holds the shapes of a recorded one, and ``made`` by the number of its record the memory of what
    is computed from weights alone.
    """

    trace: T
    tensors: tuple[Tensor, ...]
    drawn: Mapping[str, Pooled]
    held: Mapping[str, Tensor]
    made: Mapping[int, Tensor]
    error: StudentCodeFailed | None


@dataclass(frozen=True, kw_only=True)
class RunWide(OfModel[Wide[Recorded]]):
    """One plain pass in float32, at sizes at which models are really used."""

    name = "wide"

    image: Tensor
