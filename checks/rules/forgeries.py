"""What wants to be graded for something that it is not: no point of it would be earned."""

from __future__ import annotations

import random
from contextlib import suppress

import torch

from ...submissions.errors import Crashed, Refused, StudentCodeFailed
from ...submissions.questions.inventory import Inventory
from ...submissions.questions.plain_passes import Passes, PlainPass
from ..examining.drawing import Draw
from ..examining.examination import Examination
from ..examining.passes.example import Example
from ..locating.comparing import TRACED
from ..locating.search.returned_scores import Output, candidates, outputs_of, outputs_of_pass
from .model_origin import taken_from_us

_OTHERS = 2  # examples that are compared beside the first: a pass each, and none knows which
_MODES = ("eval", "graph")  # what is watched has gradients, and what is used has none

_Named = dict[str, Output]


def refuse_forgeries(examination: Examination) -> None:
    """Raises Refused for a model of the grader's, and for one that gives other scores when it is not traced.

    Raises Crashed where it fails whenever it is not traced. What merely varies from pass to pass varies among
    traced passes, too, and is the checks' to tell.
    """
    if examination.session.is_script or examination.crash is not None:
        return
    with suppress(StudentCodeFailed):  # it cannot be built at the sizes that this asks for
        _refuse_ours(examination.inventory())
    first, *others = examination.examples
    chosen = random.Random(examination.seed).sample(others, min(_OTHERS, len(others)))
    wanted = [(first, _MODES), *((one, _MODES[at % 2 :][:1]) for at, one in enumerate(chosen, 1))]
    for example, modes in wanted:
        if example.trace.error is None and not example.trace.gives_back_image:
            for plain in _unwatched(examination, example.draw, modes):
                _refuse_other_results(examination, example, plain)


def _refuse_ours(inventory: Inventory) -> None:
    if taken_from_us(inventory):
        raise Refused("the model, or a part of it, is the grader's own code, not yours")


def _unwatched(examination: Examination, draw: Draw, modes: tuple[str, ...]) -> list[PlainPass]:
    """Plain passes over the image of an example in these modes, each the first of its model.

    Where they fail, one in another mode. Raises Crashed where that does so, too.
    """
    asked = [_asked(examination, draw, mode) for mode in modes]
    if not any(one.passes for one in asked):
        asked += [_asked(examination, draw, mode) for mode in _MODES if mode not in modes]
    found = [one.passes[0] for one in asked if one.passes]
    errors = [one.error for one in asked if one.error is not None]
    if not found and errors:
        text = f"the forward pass fails unless its operations are recorded: {errors[0]}"
        raise Crashed(text, errors[0].frame)
    return found


def _asked(examination: Examination, draw: Draw, mode: str) -> Passes:
    if (draw, mode) == (examination.first_draw, "eval"):
        return examination.plain()
    return examination.forward(draw, [draw.image], modes=[mode])


def _refuse_other_results(examination: Examination, example: Example, plain: PlainPass) -> None:
    """Raises Refused where a plain pass returns something else than all recorded ones do."""
    shape = example.draw.sizes.output_shape
    traced, untraced = _by_path(outputs_of(example.trace)), _by_path(outputs_of_pass(plain))
    if examination.unfinished and not traced:  # what stands for its output is what it made last
        return
    scores = [[one.path for one in candidates(side.values(), shape)] for side in (traced, untraced)]
    if scores[0] == scores[1] and _alike(traced, untraced, list(traced)):
        return
    again = _by_path(outputs_of(examination.trace(example.draw)))
    steady = [path for path in traced if _alike(traced, again, [path])]
    if scores[0] != scores[1] or not _alike(traced, untraced, steady):
        raise Refused("the model returns different logits when it is being recorded")
    if not set(scores[0]) <= set(steady):
        examination.varying = example.draw


def _by_path(outputs: list[Output]) -> _Named:
    return {one.path: one for one in outputs}


def _alike(first: _Named, second: _Named, paths: list[str]) -> bool:
    """Are the tensors equal that stand at these paths in both?"""
    return all(_equal(first[path], second[path]) for path in paths if path in second)


def _equal(one: Output, other: Output) -> bool:
    return one.tensor.shape == other.tensor.shape and torch.allclose(
        one.tensor, other.tensor, rtol=TRACED, atol=TRACED, equal_nan=True
    )
