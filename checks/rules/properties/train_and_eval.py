"""Train mode, eval mode, and the way back."""

from __future__ import annotations

import re

from torch import Tensor

from ....submissions.reading.predictions import predictions_of
from ...examining.drawing import Draw
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from . import holds
from .passes import code_of, example_of, same

_CHOOSES_A_MODE = (".eval(", ".train(", ".backward(")
_MANY = 60  # passes: what one in ten images loses in one block is seen in all but one of 500 runs of these
# a dropout that is not 0, as a default, an argument or a literal
_DROPS = re.compile(r"drop\w*(?:\s*:\s*float)?\s*(?:=|\((?:p\s*=\s*)?)\s*0?\.0*[1-9]", re.IGNORECASE)


@holds(order=70)
def eval_mode_in_scripts(examination: Examination) -> None:
    """A script that predicts switches to eval mode first.

    Else: A script predicts in train mode
    """
    example_of(examination)
    files = examination.source.files
    code = code_of(examination)
    name = examination.inventory().modules[""][0].rpartition(".")[2]
    runs = list(predictions_of(files, name))
    if not runs:
        raise NotAsked("no script here predicts a class with the model")
    if not any(word in code for word in _CHOOSES_A_MODE) and _DROPS.search(code):
        text = f"{name} is run in {runs[0].file}, line {runs[0].line}, with dropout in train mode"
        raise CheckFailed(text, ("eval-not-called",), None, runs[0])


@holds(order=200)
def dropout_comes_back(examination: Examination) -> None:
    """Dropout is active again after eval() and then train().

    Else: Dropout stays off after eval() and then train()
    """
    draw = example_of(examination).draw
    first, second, _, third, fourth = _in_modes(examination, draw, 2)
    if not same(first, second) and same(third, fourth) and _stays_off(examination, draw):
        text = "dropout is active in train mode at first, but stays off once the model was in eval mode"
        raise CheckFailed(text, ("dropout-sticky-after-eval",), draw)


def _stays_off(examination: Examination, draw: Draw) -> bool:
    """Are many passes alike? A whole branch of a small batch is dropped in few of them."""
    first, *others = _in_modes(examination, draw, _MANY)[3:]
    return all(same(first, one) for one in others)


def _in_modes(examination: Examination, draw: Draw, after: int) -> list[tuple[Tensor, ...]]:
    """What comes out in train mode twice, in eval mode, and in train mode so many times ``after`` that."""
    modes = ["train", "train", "eval", *["train"] * after]
    passes = examination.forward(draw, modes=modes, order=[0] * len(modes))
    if passes.error is not None:
        raise CheckFailed(f"the model does not run in train mode: {passes.error}", (), draw)
    return [one.tensors for one in passes.passes]
