"""Train mode, eval mode, and the way back."""

from __future__ import annotations

import torch

from ..examination import Examination
from ..verdicts import CheckFailed
from .passes import example_of, passes_of, same, scores_of


def train_and_eval(examination: Examination) -> None:
    """The model runs in train mode, and gives finite scores of the same shape."""
    draw = example_of(examination).draw
    expected = scores_of(passes_of(examination, draw))
    passes = examination.forward(draw, modes=["train"])
    if passes.error is not None:
        raise CheckFailed(f"the model does not run in train mode: {passes.error}", (), draw)
    scores = scores_of(passes)
    if scores.shape != expected.shape or not bool(torch.isfinite(scores).all()):
        raise CheckFailed("in train mode the scores have another shape, or are not finite", (), draw)


def dropout_comes_back(examination: Examination) -> None:
    """What is random in train mode is random again when training goes on after eval mode."""
    draw = example_of(examination).draw
    modes = ["train", "train", "eval", "train", "train"]
    passes = examination.forward(draw, modes=modes, order=[0] * len(modes))
    if passes.error is not None:
        raise CheckFailed(f"the model does not run in train mode: {passes.error}", (), draw)
    first, second, _, third, fourth = (one.tensors for one in passes.passes)
    if not same(first, second) and same(third, fourth):
        text = "dropout is random in train mode at first, and is off for good once the model was in eval mode"
        raise CheckFailed(text, ("dropout-sticky-after-eval",), draw)
