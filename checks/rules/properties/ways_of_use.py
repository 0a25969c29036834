"""A model is one function, wherever it is used: what holds where it is graded holds there, too.

What it returns is compared with what the same weights give in the pass that is graded, or with what follows
from the located stages. One request has the model run in all of these ways.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ....submissions.questions.uses import TRAIN, UseOutcome
from ...examining.examination import Examination
from ...examining.passes.predicting import predicted
from ...examining.using import RANGES, in_range
from ...examining.verdicts import CheckFailed, NotApplicable, NotAsked
from ...locating.anatomy import anatomy_of
from ...locating.comparing import ROUNDING, SINGLE, far
from ...locating.search.returned_scores import scores_in
from ...locating.search.shapes import shaped
from . import holds
from .passes import example_of

# Dropout parts passes from each other by as much as from eval mode. Where it drops next to nothing, it still
# scales what stays: by a tenth in each branch at most, or it would drop something in four passes.
_LOUD, _SCALED = 10, 0.3

_Pair = tuple[Tensor, Tensor]  # what a use gives, and what it should give


@holds(order=130)
def large_batch(examination: Examination) -> None:
    """An image gets the same logits in a large batch as in a small one.

    Else: An image gets different logits in a large batch
    """
    where, images = "in a batch of many images", len(examination.first_draw.image)
    for many, few in _pairs(examination, "many", where):
        if few.shape[:1] != (images,):
            continue
        times = -(-len(many) // images) if many.dim() else 1
        expected = few.repeat(times, *[1] * (few.dim() - 1))[: len(many)] if many.dim() else few
        if far(many, expected):
            rows = enumerate(zip(many, expected), start=1)
            first = next((number for number, (one, other) in rows if far(one, other)), 0)
            text = f"in a batch of {len(many)}, image {first} gets other logits than in a batch of {images}"
            raise CheckFailed(text, (), examination.first_draw)


@holds(order=130)
def single_precision(examination: Examination) -> None:
    """In float32 the logits are those of float64, up to rounding.

    Else: In float32 the model fails or gives other logits than in float64
    """
    _demand_the_same(examination, "float32", "in float32", SINGLE)


@holds(order=130)
def pixel_ranges(examination: Examination) -> None:
    """Pixels from 0 to 255, or from 0 to 1, go through the same computation as others.

    Else: Pixels from 0 to 255, or from 0 to 1, do not go through the same computation as others
    """
    example = example_of(examination)
    if not example.draw.image.is_floating_point():
        raise NotAsked("the input of the model has no pixels")
    for name, (low, high) in RANGES.items():
        where = f"for pixels from {low:g} to {high:g}"
        found = _returned(examination, name, where).tensors
        image = in_range(example.draw.image, low, high)
        logits = predicted(example.walk, example.trace, example.draw.sizes, image)
        if not follow(examination, found, logits):
            text = f"{where} the logits are not computed from the stages as they are for others"
            raise CheckFailed(text, (), example.draw)


@holds(order=130)
def with_and_without_gradients(examination: Examination) -> None:
    """The logits are the same with gradients, in inference mode, and in a copy of the model.

    Else: The logits change with gradients, in inference mode, or in a copy of the model
    """
    _demand_the_same(examination, "gradients", "when gradients are recorded")
    _demand_the_same(examination, "inference", "in inference mode")
    _demand_the_same(examination, "copied", "in a copy of the model")


@holds(order=130)
def saved_and_loaded(examination: Examination) -> None:
    """A second model that loads the saved weights gives the same logits.

    Else: A model that loads the saved weights does not give the same logits
    """
    _demand_the_same(examination, "loaded", "in a second model with the saved weights loaded")


def _demand_the_same(examination: Examination, name: str, where: str, tolerance: float = ROUNDING) -> None:
    for found, expected in _pairs(examination, name, where):
        if far(found, expected, tolerance):
            raise CheckFailed(_apart(where, found, expected), (), examination.first_draw)


@holds(order=130)
def train_and_eval(examination: Examination) -> None:
    """Train mode gives the logits of eval mode, except for dropout.

    Else: Train mode computes something else than eval mode
    """
    where = "in train mode"
    graded, scores = _graded(examination), _scores(examination, _returned(examination, "train", where))
    expected = _scores(examination, graded)
    if scores.shape != expected.shape or not bool(torch.isfinite(scores).all()):
        text = "in train mode the logits have another shape, or are NaN or infinite"
        raise CheckFailed(text, (), examination.first_draw)
    if not (_is_random(examination, scores) or _is_returned(examination, scores, graded.tensors)):
        text = _apart("in train mode, without any dropout,", scores, expected)
        raise CheckFailed(text, (), examination.first_draw)


def _is_random(examination: Examination, scores: Tensor) -> bool:
    """Does train mode draw numbers, and part the scores from those of eval mode by no more than these do?"""
    names = [one for one in TRAIN[1:] if one in examination.used()]
    others = (_returned(examination, name, "in train mode") for name in names)
    passes = [scores, *(_scores(examination, one) for one in others)]
    if len(passes) == 1:
        return False
    together, expected = torch.stack(passes), _scores(examination, _graded(examination))
    noise = float((together.amax(0) - together.amin(0)).max())
    systematic = float((together.mean(0) - expected).abs().max())
    return systematic <= max(_LOUD * noise, _SCALED * float(expected.abs().max()))


def _is_returned(examination: Examination, scores: Tensor, graded: Sequence[Tensor]) -> bool:
    """Are these among what eval mode returns, or what else may be returned of it, such as probabilities?"""
    logits = example_of(examination).context.stages.get(("logits", 0))
    as_usual = logits is not None and is_answer(examination, scores, logits)
    return as_usual or any(not far(scores, one) for one in graded if one.shape == scores.shape)


def follow(
    examination: Examination, found: Sequence[Tensor], logits: Tensor, tolerance: float = ROUNDING
) -> bool:
    """Is what should follow from the logits among what was returned what follows from these?

    Raises NotApplicable where nothing that is returned is known to follow from them.
    """
    if examination.unexplained:  # in some example: what explains it in another is a coincidence
        raise NotApplicable("what the model computes is not known well enough to predict it")
    graded = _graded(examination).tensors
    located = example_of(examination).context.stages.get(("logits", 0))
    if located is None:
        raise NotApplicable("the logits were not found")
    places = [place for place, one in enumerate(graded) if is_answer(examination, one, located)]
    if not places:
        raise NotApplicable("nothing that the model returns is known to be computed from the logits")
    return all(
        place < len(found) and is_answer(examination, found[place], logits, tolerance) for place in places
    )


def is_answer(examination: Examination, scores: Tensor, logits: Tensor, tolerance: float = ROUNDING) -> bool:
    """Are these scores the logits, or what may be returned in their place?"""
    answers = anatomy_of(examination.family).answers(logits)
    return any(not far(scores, one, tolerance) for one in answers if one.shape == scores.shape)


def _pairs(examination: Examination, name: str, where: str) -> list[_Pair]:
    """What a use returns beside what the graded pass does; the scores alone where it returns more or less."""
    graded, found = _graded(examination), _returned(examination, name, where)
    if [path for path, _ in found.outputs] != [path for path, _ in graded.outputs]:
        return [(_scores(examination, found), _scores(examination, graded))]
    return [(one, other) for one, other in zip(found.tensors, graded.tensors) if other.is_floating_point()]


def _returned(examination: Examination, name: str, where: str) -> UseOutcome:
    """What a use gives. Raises CheckFailed where it ends in an exception, though the graded pass does not."""
    _graded(examination)
    use = examination.used().get(name)
    if use is None:
        raise NotAsked("the code has large sizes hard-coded, at which each pass takes seconds")
    draw = examination.first_draw
    if (error := use.error) is not None:
        raise CheckFailed(f"{where} the model fails: {error}", (), draw, error.frame)
    if not use.tensors:
        raise CheckFailed(f"{where} the model returns no tensor", (), draw)
    return use


def _graded(examination: Examination) -> UseOutcome:
    """What the model returns in eval mode and float64, for the image that all stages are judged on."""
    example_of(examination)
    use = examination.used()["image"]
    if use.error is not None or not use.tensors:
        raise CheckFailed(f"the forward pass fails: {use.error or 'it returns no tensor'}")
    return use


def _scores(examination: Examination, use: UseOutcome) -> Tensor:
    return scores_in(use, examination.scores_path).tensor


def _apart(where: str, found: Tensor, expected: Tensor) -> str:
    if found.shape != expected.shape:
        return f"{where} expected the shape {shaped(expected.shape)}, got {shaped(found.shape)}"
    error, largest = float((found - expected).abs().max()), float(expected.abs().max())
    return f"{where} the result is off by up to {error:.3g}; its largest value should be {largest:.3g}"
