"""The student's own way from a picture to the model's input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from .question import Question


@dataclass(frozen=True)
class Prepared:
    """What a student's preprocessing makes of each picture of ``images.PICTURES``."""

    name: str  # of the function or transform
    is_function: bool
    tensors: Mapping[str, Tensor]  # float64
    dtypes: Mapping[str, str]
    errors: Mapping[str, str]  # why there is no tensor

    def __post_init__(self) -> None:
        if any(one.dim() not in (3, 4) for one in self.tensors.values()):
            raise ValueError("a prepared image has neither three nor four axes")


@dataclass(frozen=True, kw_only=True)
class PreparePictures(Question[Prepared | None]):
    """The pictures for a model that reads squares of this side; None where nothing prepares them."""

    name = "prepare"

    side: int
