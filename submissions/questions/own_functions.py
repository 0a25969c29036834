"""The submission's own functions: what they make of a picture, and the class that they tell of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from .question import Question

BEST = 1  # the class of the first image: not 0, which a wrong axis gives
_SCORE, _SHARE = 2.0, 0.6  # its score, of which a sigmoid makes 0.88, and its probability
_MOST = 4096  # numbers of each kind


def scores_for(images: int, classes: int) -> Tensor:
    """Scores of shape (images, classes), float64: of image i, class ``BEST + i`` has probability 0.6."""
    rows = (-torch.arange(classes, dtype=torch.float64) / classes).repeat(images, 1)
    for image, row in enumerate(rows):
        best = (BEST + image) % classes
        rest = row.exp().sum() - row[best].exp()
        row += _SCORE - torch.log(_SHARE / (1 - _SHARE) * rest)
        row[best] = _SCORE
    return rows


@dataclass(frozen=True)
class Prepared:
    """What a student's preprocessing makes of each picture of ``images.PICTURES``."""

    name: str  # of the function or transform
    is_function: bool
    reaches_model: bool  # was it handed to a model?
    tensors: Mapping[str, Tensor]  # float64
    dtypes: Mapping[str, str]
    errors: Mapping[str, str]  # why there is no tensor

    @property
    def told(self) -> str:
        """How it is called in a sentence."""
        return f"the {'function' if self.is_function else 'transform'} {self.name}"

    def __post_init__(self) -> None:
        if any(one.dim() not in (3, 4) for one in self.tensors.values()):
            raise ValueError("a prepared image has neither three nor four axes")


@dataclass(frozen=True)
class Predicted:
    """What a function told beside a model that gives ``scores_for`` any ``images``."""

    name: str
    file: str
    line: int
    images: int
    in_train_mode: bool
    classes: Tensor  # every whole number that it told, int64, of one axis
    shares: Tensor  # every other number, float64, of one axis

    def __post_init__(self) -> None:
        if any(one.dim() != 1 or len(one) > _MOST for one in (self.classes, self.shares)):
            raise ValueError("what a function told is no list of numbers, or too long a one")


@dataclass(frozen=True)
class OwnFunctions:
    """All of them that could be called with a picture."""

    prepared: tuple[Prepared, ...]
    predicted: tuple[Predicted, ...]


@dataclass(frozen=True, kw_only=True)
class CallOwnFunctions(Question[OwnFunctions]):
    """They are called with pictures of this ``side``, and a stand-in for a model of so many ``classes``."""

    name = "own_functions"
    doing = "while its functions were called with a picture"

    side: int
    classes: int
