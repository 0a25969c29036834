"""The loss of the student's own training code, beside what the model gives it."""

from __future__ import annotations

from torch import Tensor

from ....submissions.reading.losses import given_to_cross_entropy, softmax_given_to_cross_entropy
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from . import holds
from .passes import example_of

_SUM = 1e-5  # by which probabilities in float32 may miss a sum of 1


@holds(order=160)
def loss(examination: Examination) -> None:
    """The loss is given what it takes: cross entropy takes logits.

    Else: The loss takes a softmax of what is one already
    """
    example = example_of(examination)
    if (line := next(softmax_given_to_cross_entropy(examination.source.files), None)) is not None:
        text = f"the loss in line {line.line} is given a softmax, and takes one itself"
        raise CheckFailed(text, ("softmax-before-loss",), example.draw, line)
    is_softmax = any(one.id == "probabilities-returned" for one in examination.findings())
    is_accepted = is_softmax and not examination.counts("probabilities-returned")
    line = next(given_to_cross_entropy(examination.source.files), None) if is_accepted else None
    if line is None:
        raise NotAsked("no code here gives probabilities to a loss")
    passes = examination.forward(example.draw, modes=["train"], order=[0])
    returned = [one for each in passes.passes for one in each.tensors]
    if len(returned) == 1 and _sums_to_one(returned[0]):
        text = f"the model returns a softmax, and the loss in line {line.line} takes another one of it"
        made = example.trace.value(example.trace.outputs[0][1]).frames
        raise CheckFailed(text, ("softmax-in-logits",), example.draw, next(iter(made), line))


def _sums_to_one(scores: Tensor) -> bool:
    return bool((scores >= 0).all()) and bool(((scores.sum(-1) - 1).abs() < _SUM).all())
