"""From scores to a class: the student's own functions, beside a model whose scores are known."""

from __future__ import annotations

import torch

from ....submissions.errors import Frame
from ....submissions.questions.own_functions import Predicted, scores_for
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from . import holds
from .passes import code_of, example_of, same

_OVER_IMAGES = "takes the best image for each class, not the best class for each image", "argmax-over-batch"
_ROUNDED = 6e-3  # of a probability between 0 and 1: shown as 60.5 %, or as 0.6


@holds(order=150)
def predictions(examination: Examination) -> None:
    """Functions that predict a class use each image's largest logit, its softmax, and eval mode.

    Else: A function that predicts a class is wrong
    """
    found = examination.own_functions().predicted
    if not found:
        raise NotAsked(
            "no function that predicts a class with the model was found, or it could not be called"
        )
    for predicted in found:
        wrong = _wrong(examination, predicted)
        if wrong is not None:
            text, id = wrong
            raise CheckFailed(
                f"the function {predicted.name} {text}", (id,), None, Frame(predicted.file, predicted.line)
            )


def _wrong(examination: Examination, told: Predicted) -> tuple[str, str] | None:
    """What it says of the known scores that does not follow from them, and what that looks like.

    Only what a known slip gives is wrong: other numbers may be about something else.
    """
    scores = scores_for(told.images, examination.assignment.full.classes)
    right = scores.argmax(1).tolist()
    over_images = scores.argmax(0).tolist()
    classes = told.classes.tolist()
    if classes[: len(over_images)] == over_images != right and len(over_images) > len(right):
        return _OVER_IMAGES
    first = scores[0]
    if classes == over_images[:1] != right and _is_told(first.softmax(0)[classes[0]], told):
        return _OVER_IMAGES  # with the probability of the class that this gives
    shares = {
        "class-softmax-over-batch": scores.softmax(0)[0],
        "probs-sigmoid": first.sigmoid(),
    }
    if told.shares.numel() and not _is_among(first.softmax(0), told):
        for id, values in shares.items():
            if _is_among(values, told):
                said, softmax = (float(one[right[0]]) for one in (values, first.softmax(0)))
                return f"gives {said:.3g} for a class whose probability is {softmax:.3g}", id
    if told.in_train_mode and ".eval(" not in code_of(examination) and _heeds_modes(examination):
        return "uses the model in train mode, and no line switches it to eval mode", "eval-not-called"
    return None


def _heeds_modes(examination: Examination) -> bool:
    """Does train mode give other scores than eval mode? Where nothing is dropped, either will do."""
    passes = examination.forward(example_of(examination).draw, order=[0, 0], modes=["train", "eval"])
    return passes.error is not None or not same(*(one.tensors for one in passes.passes))


def _is_among(shares: torch.Tensor, told: Predicted) -> bool:
    """Is the best class's share among what was told?"""
    return _is_told(shares.max(), told)


def _is_told(share: torch.Tensor, told: Predicted) -> bool:
    """Is it among what was told, or its percentage?"""
    return any(bool(((one - share).abs() < _ROUNDED).any()) for one in (told.shares, told.shares / 100))
