"""What is asked of a model to see whether it is one function, wherever it is used."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ...submissions.questions.plain_passes import Passes, RunPasses
from ...submissions.questions.size_limits import is_large
from ...submissions.questions.uses import MeasureSlopes, Slopes, TryUses, UseOutcome
from ..locating.search.returned_scores import scores_in
from .drawing import Draw
from .passes.example import Example
from .passes.examples import Examples
from .passes.repeating import goes_on
from .verdicts import CheckFailed, NotReached

# Images in a batch that is larger than any that is graded otherwise; models fixed at large sizes take 9.
_BATCHES = 67, 9
# Pixels as they come out of image files and of ToTensor, beside the standard normal ones of all examples.
RANGES = {"bytes": (0.0, 255.0), "unit": (0.0, 1.0)}
_DEEPER = 5, 7  # blocks, beyond those that stages are located in


def ask(examples: Examples) -> Mapping[str, UseOutcome]:
    """Every use of the model by name, on the first example."""
    draw = examples.first_draw
    image = draw.image
    large = is_large(draw.sizes)
    count = _BATCHES[1] if large else _BATCHES[0]
    many = image.repeat(-(-count // len(image)), *[1] * (image.dim() - 1))[:count]
    images = {"image": image, "many": many}
    if image.is_floating_point() and not large:
        images |= {name: in_range(image, *ends) for name, ends in RANGES.items()}
    return examples.session.ask(TryUses(sizes=draw.sizes, seed=draw.seed, images=images, few=large))


def run_plainly(
    examples: Examples, draw: Draw, images: Iterable[Tensor], *, begun: bool, **options: Any
) -> Passes:
    """Plain passes over images, or over one of random numbers, by ``RunPasses``.

    Raises NotReached where the model is only ``begun``, and computes nothing yet; a backward pass may fail.
    """
    given = list(images) or [examples.input(draw)]
    asked = RunPasses(sizes=draw.sizes, seed=draw.seed, images=given, begun=begun, **options)
    passes = examples.session.ask(asked)
    is_whole = passes.error is None or (asked.backward and passes.passes)
    if begun and not (is_whole and passes.passes[0].tensors):
        raise NotReached("nothing is computed yet")
    return passes


def in_range(image: Tensor, low: float, high: float) -> Tensor:
    """Standard normal pixels spread evenly from ``low`` to ``high``."""
    spread: Tensor = torch.special.ndtr(image)
    return low + (high - low) * spread


def scores_of(passes: Passes, path: str, draw: Draw) -> Tensor:
    """The class scores of the first pass, at ``path`` in what it returns. Raises CheckFailed without any."""
    if passes.error is not None or not passes.passes[0].tensors:
        raise CheckFailed(f"the forward pass fails: {passes.error or 'it returns no tensor'}", (), draw)
    return scores_in(passes.passes[0], path).tensor


def ask_slopes(examples: Examples) -> tuple[Draw, Slopes]:
    """At small sizes if the model follows them, and with all of its blocks."""
    first = examples.first_draw
    wanted = replace(first.sizes, batch=2, depth=examples.assignment.full.depth)
    draw = replace(first, sizes=examples.session.whole_sizes_for(wanted))
    question = MeasureSlopes(
        sizes=draw.sizes, seed=draw.seed, whole=True, image=draw.image, measured=not is_large(draw.sizes)
    )
    return draw, examples.session.ask(question)


def deeper_example(examples: Examples) -> Example | None:
    """Located only where more blocks do other than repeat what the first ones do."""
    first = examples.first_draw
    depth = random.Random(examples.seed).randint(*_DEEPER)
    draw = examples.buildable(replace(first, sizes=replace(first.sizes, depth=depth)))
    more = draw.sizes.depth - first.sizes.depth
    if more <= 0 or is_large(draw.sizes):
        return None
    trace = examples.trace(draw)
    if goes_on(examples.walk.trace, trace, more):
        return None
    return examples.located(draw, trace)
