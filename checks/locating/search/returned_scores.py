"""Which of the tensors that a model returns stand for its class scores, and what follows from scores.

What is called logits or scores goes before what comes first. A tensor of the same numbers in another layout
is read in that of the scores.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Protocol

import torch
from torch import Tensor

from ....submissions.host.trace import Trace
from ..comparing import ORDER, equal, rounding_of

_LOGITS = re.compile("logit")
_SCORES = re.compile("^(cls|class|pred|predicted|final)?scores?$|^(out|outputs?|y|yhat|preds?|predictions?)$")
_PROBABILITIES = re.compile("prob|softmax|confidence")
# attention has logits, too, a logarithm is no probability, and what comes before the logits is none
_OTHERS = re.compile("att|aux|log(p|soft)|^(pre|before)")
_LABELS = re.compile("^labels?$|argmax|class(es|idx|index|id)?$|^(preds?|predicted|predictions?|ids?|top1)$")


@dataclass(frozen=True, eq=False)
class Output:
    """One tensor that is returned, as float64; ``dtype`` is what it was."""

    path: str
    tensor: Tensor
    dtype: str

    @property
    def name(self) -> str:
        """The last part of the path that is no position, in small letters alone."""
        parts = [one for one in self.path.split(".") if not one.isdigit()]
        return re.sub("[^a-z]", "", parts[-1].lower()) if parts else ""

    @property
    def is_called_logits(self) -> bool:
        return bool(_LOGITS.search(self.name)) and not _OTHERS.search(self.name)

    @property
    def is_called_probabilities(self) -> bool:
        return bool(_PROBABILITIES.search(self.name)) and not _OTHERS.search(self.name)

    @property
    def is_called_scores(self) -> bool:
        return bool(_SCORES.search(self.name)) or self.is_called_logits

    @property
    def is_called_otherwise(self) -> bool:
        """Has it a name, and is that one of something else than scores and probabilities?"""
        return bool(self.name) and not (self.is_called_scores or self.is_called_probabilities)

    @property
    def is_whole(self) -> bool:
        """Are these whole numbers, such as labels, or yes and no?"""
        return "int" in self.dtype or self.dtype == "bool"

    @property
    def rank(self) -> int:
        """How far it is from being called the scores."""
        if self.is_whole:
            return 4
        if self.is_called_scores:
            return 0 if self.is_called_logits else 1
        return 3 if self.is_called_probabilities else 2

    @property
    def rounding(self) -> float:
        return rounding_of(self.dtype)

    def readings(self, shape: Sequence[int]) -> Iterator[Tensor]:
        """The tensor in that shape, if it is that but for the order of axes and axes of one."""
        if self.tensor.numel() != math.prod(shape) or not self.tensor.numel():
            return
        sides = [side for side in self.tensor.shape if side != 1]
        for order in permutations(range(len(shape))):
            turned = [shape[axis] for axis in order]
            if sides in ([side for side in turned if side != 1], [self.tensor.numel()]):
                yield self.tensor.reshape(turned).permute([order.index(axis) for axis in range(len(order))])

    def is_laid_out_as(self, shape: Sequence[int]) -> bool:
        return next(self.readings(shape), None) is not None

    def is_one_of(self, values: Iterable[Tensor]) -> bool:
        """Does it hold one of these, in some layout and to the rounding of its type?"""
        return any(
            equal(reading, value, self.rounding) for value in values for reading in self.readings(value.shape)
        )

    def follows_from(self, scores: Tensor) -> bool:
        """Does it order the classes of each image as the scores do, and by the same distances?

        Such are the scores of another temperature or without their mean, and probabilities and their
        logarithms; and what is only an order: sorted ones, ranks, a one for the best class.
        """
        return any(self._follows(one, scores) for one in self.readings(scores.shape))

    def _follows(self, one: Tensor, scores: Tensor) -> bool:
        slack = max(ORDER, 2 * self.rounding)
        for right in (scores, scores.softmax(-1), scores.sigmoid()):
            forms = [right.sort(-1, descending=True).values, right.sort(-1).values]
            if any(equal(one, form, slack) for form in (right, *forms)):
                return True
        if self.is_whole:
            best = torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1])
            orders = (scores.argsort(-1, descending=True), scores.argsort(-1), best)
            return any(torch.equal(one, order.double()) for order in orders)
        return any(equal(_standardised(form), _standardised(scores), slack) for form in (one, one.log()))


def _standardised(rows: Tensor) -> Tensor:
    centred = rows - rows.mean(-1, keepdim=True)
    return centred / centred.square().mean(-1, keepdim=True).sqrt()


def outputs_of(trace: Trace) -> list[Output]:
    """What a recorded pass returned."""
    return [Output(path, trace.tensor(where), trace.value(where).dtype) for path, where in trace.outputs]


class Returned(Protocol):
    """What a plain pass or another use of a model returned: paths and dtypes, and the tensors there."""

    @property
    def outputs(self) -> tuple[tuple[str, str], ...]: ...

    @property
    def tensors(self) -> tuple[Tensor, ...]: ...


def outputs_of_pass(one: Returned) -> list[Output]:
    """What a pass returned that was not recorded."""
    return [Output(path, tensor, dtype) for (path, dtype), tensor in zip(one.outputs, one.tensors)]


def candidates(outputs: Iterable[Output], shape: Sequence[int]) -> list[Output]:
    """What may stand for scores of that shape: first what is called so, then by position."""
    found = [one for one in outputs if one.is_laid_out_as(shape)]
    return sorted(found, key=lambda one: (one.rank, tuple(one.tensor.shape) != tuple(shape)))


def stand_ins(outputs: Iterable[Output], shape: Sequence[int]) -> list[Output]:
    """What is called the scores alone, where anything is; else all that may be."""
    found = candidates(outputs, shape)
    return found[:1] if found and found[0].rank <= 1 else found


def scores_in(one: Returned, path: str) -> Output:
    """What stands at the path; in a mode in which something else is returned, what is the nearest to scores.

    Raises ValueError where nothing is returned.
    """
    outputs = outputs_of_pass(one)
    return min(outputs, key=lambda other: (other.path != path, other.rank, other.tensor.dim() != 2))


def is_label(one: Output, shape: Sequence[int]) -> bool:
    """Is it a class for each image, by its shape and its name?"""
    if not one.is_laid_out_as(shape[:-1]):
        return False
    return bool(_LABELS.search(one.name)) if one.name else "int" in one.dtype
