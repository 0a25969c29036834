"""The loss of the student's own training code, beside what the model gives it."""

from __future__ import annotations

import ast
from itertools import islice

from torch import Tensor

from ....submissions.errors import Frame
from ....submissions.reading.code import parsed_file
from ....submissions.reading.code_scopes import called, stored_for
from ....submissions.reading.losses import (
    CROSS_ENTROPY,
    NEGATIVE_LOG_LIKELIHOOD,
    given_a_softmax,
    given_by_a_model,
)
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from ..judging import demand_finished
from . import holds
from .passes import example_of

_GIVEN_A_SOFTMAX = {
    CROSS_ENTROPY: ("is given a softmax, and takes one itself", "softmax-before-loss"),
    NEGATIVE_LOG_LIKELIHOOD: ("takes log-probabilities, and is given a softmax", "log-missing-before-loss"),
}
_SUM = 1e-5  # by which probabilities in float32 may miss a sum of 1


@holds(order=160, of_code=True)
def loss(examination: Examination) -> None:
    """The loss is given what it takes: cross entropy takes logits, and nll_loss log-probabilities.

    Else: The loss is not given what it takes
    """
    for one, (told, id) in _GIVEN_A_SOFTMAX.items():
        for line in given_a_softmax(examination.source.files, one):
            raise CheckFailed(f"the loss in line {line.line} {told}", (id,), frame=line)
    demand_finished(examination)
    example_of(examination)
    losses = [NEGATIVE_LOG_LIKELIHOOD, *([CROSS_ENTROPY] if _is_accepted(examination) else [])]
    given = {
        one: line for one in losses for line in islice(given_by_a_model(examination.source.files, one), 1)
    }
    if not given:
        raise NotAsked("no code here gives a loss what it may not take")
    for returned in _returned(examination):
        if CROSS_ENTROPY in given:
            _demand_logits(examination, returned, given[CROSS_ENTROPY])
        if NEGATIVE_LOG_LIKELIHOOD in given:
            _demand_logarithms(examination, returned, given[NEGATIVE_LOG_LIKELIHOOD])


def _is_accepted(examination: Examination) -> bool:
    """Is it a softmax that the model returns, and all right in itself?"""
    is_softmax = any(one.id == "probabilities-returned" for one in examination.findings())
    return is_softmax and not examination.counts("probabilities-returned")


def _returned(examination: Examination) -> list[Tensor]:
    """What the model returns where it is trained, if that is one tensor."""
    passes = examination.forward(examination.first_draw, modes=["train"], order=[0])
    found = [one for each in passes.passes for one in each.tensors]
    return found if len(found) == 1 else []


def _demand_logits(examination: Examination, returned: Tensor, line: Frame) -> None:
    if _sums_to_one(returned):
        text = f"the model returns a softmax, and the loss in line {line.line} takes another one of it"
        trace = examination.first.trace
        made = next(iter(trace.value(trace.outputs[0][1]).frames), line)
        raise CheckFailed(text, ("softmax-in-logits",), examination.first_draw, _layer(examination, made))


def _layer(examination: Examination, frame: Frame) -> Frame:
    """Where the softmax is made that this line calls, if it is one of the layers of something."""
    tree = parsed_file(examination.source.files, frame.file) or ast.Module([], [])
    kept = {made for line, made in stored_for(tree) if line == frame.line}
    alone = {one.value for one in ast.walk(tree) if isinstance(one, ast.Assign)}
    calls = (one for one in ast.walk(tree) if isinstance(one, ast.Call) and one not in alone)
    layers = (one.lineno for one in calls if called(one) == "Softmax")
    return next((frame._replace(line=one) for one in layers if one in kept), frame)


def _demand_logarithms(examination: Examination, returned: Tensor, line: Frame) -> None:
    if not _sums_to_one(returned.exp()):
        text = f"the loss in line {line.line} takes log-probabilities, and the model returns none"
        raise CheckFailed(text, ("log-missing-before-loss",), examination.first_draw, line)


def _sums_to_one(shares: Tensor) -> bool:
    return bool((shares >= 0).all()) and bool(((shares.sum(-1) - 1).abs() < _SUM).all())
