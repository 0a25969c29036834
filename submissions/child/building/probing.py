"""Trying ways to build a model: whether it builds, an image passes, and the sizes come out that went in."""

from __future__ import annotations

import itertools
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import inf

import torch
from torch import Tensor

from ....reference.model_sizes import AnySizes, ModelSizes
from ....reference.sizes import Sizes
from ...questions.randomise import randomise
from ..child import is_out_of_memory
from ..tracing.results import computed
from .arguments.argument_choices import assignments
from .build_attempt import BuildAttempt, Level
from .calls.blueprint import Assignment, Builder
from .calls.forward_inputs import ONE_BY_ONE
from .calls.observing import (
    ModelParts,
    embedded_width,
    flattened_patch,
    norms_one_number,
    observe,
    tensors,
)
from .effort import Computed, Effort, taken_apart
from .trial_sizes import BASES, fit

TRIES_ELSEWHERE = 2  # at the sizes after the first

USUAL_SIDES = (224, 32, 28, 64, 16, 8, 72, 96, 128, 256, 384)  # of images that a model may expect
_MOST_PATCHES_A_SIDE = 28
_LARGEST_SIDE = 1024  # of an image
_OF_IMAGES = {"height", "width", "channels", "patch"}  # which one fixed number may tie together
_SEED = 0  # the same for all tries, so that outputs can be compared


class Search:
    """Looks for the way to build a model that gets furthest, with no more than this ``effort``.

    ``bases`` are the sizes to try, one after the other.
    """

    def __init__(self, builder: Builder, effort: Effort, bases: Iterable[ModelSizes] = BASES) -> None:
        self.builder = builder
        self.bases = bases
        self.effort = effort
        self.best: BuildAttempt | None = None

    def run(self) -> BuildAttempt:
        """Try the ways in order of plausibility, up to one that leaves nothing to be desired."""
        ways = assignments(self.builder.blueprint.slots)
        for number, base in enumerate(self.bases):
            for assignment in ways if number == 0 else ways[:TRIES_ELSEWHERE]:
                attempt = self._settle(assignment, base)
                if self.best is None or attempt.came_to > self.best.came_to:
                    self.best = attempt
                if self.best.is_perfect or self.effort.is_spent:
                    return self.best
            if self.best is not None and (self.best.level >= Level.RAN or self.best.is_bug):
                return self.best
        assert self.best is not None  # there is always a way, if only the one that gives nothing
        return self.best

    def _settle(self, assignment: Assignment, sizes: ModelSizes) -> BuildAttempt:
        """Try at ``sizes``, then with what the model has fixed put in, until an image passes."""
        first = self._given(assignment, sizes)
        if first.level == Level.RAN and self._is_fixed(first):  # images of other channels become more images
            return self._elsewhere(assignment, fit(sizes, first.seen), Level.FITS) or first
        if first.level != Level.BUILT or first.is_bug:
            return first
        unset = {name: one for name, one in first.seen.items() if name not in first.claimed}
        as_embedded = {**first.seen, "embed_dim": first.embedded}  # where the code fixes it there alone
        others = [fit(sizes, unset), fit(sizes, first.seen), fit(sizes, as_embedded), replace(sizes, batch=1)]
        for other in dict.fromkeys(one for one in others if one != sizes and _is_meant(one)):
            attempt = self._run(assignment, other)
            if attempt.level > Level.BUILT:
                changed = {name for name, one in vars(other).items() if one != getattr(sizes, name)}
                return replace(attempt, adapted=bool(changed & first.claimed - _OF_IMAGES))
            is_grey = getattr(other, "channels", 0) == 1
            if is_grey and (grey := self.laid_out(assignment, other, "B H W")) is not None:
                return grey
        return (
            self._elsewhere(assignment, fit(sizes, unset), Level.RAN) or first
            if self._is_fixed(first)
            else first
        )

    def _is_fixed(self, attempt: BuildAttempt) -> bool:
        """Does no argument say how large images are?"""
        return "height" not in attempt.claimed and isinstance(attempt.sizes, Sizes)

    def _given(self, assignment: Assignment, sizes: ModelSizes) -> BuildAttempt:
        """Try what a forward may be given beside the image until numbers come out, then other images."""
        first, inputs = self._run(assignment, sizes), self.builder.inputs
        if first.level == Level.NOTHING or first.comes_through:
            return first
        for other in inputs.ways() if inputs is not None else ():
            self.builder.give(other)
            attempt = self._run(assignment, sizes)
            if attempt.comes_through:
                return attempt
        self.builder.give(inputs)
        layouts = () if first.is_bug else ("B H W C", ONE_BY_ONE)
        return next(filter(None, (self.laid_out(assignment, sizes, one) for one in layouts)), first)

    def laid_out(self, assignment: Assignment, sizes: ModelSizes, axes: str) -> BuildAttempt | None:
        """The same with images of other axes, if that fits."""
        before = self.builder.inputs
        other = self.builder.laid_out(axes) if isinstance(sizes, Sizes) else None
        if other is not None:
            self.builder.give(other)
            attempt = self._run(assignment, sizes)
            if attempt.level == Level.FITS:
                return attempt
        self.builder.give(before)
        return None

    def _elsewhere(self, assignment: Assignment, sizes: AnySizes, least: Level) -> BuildAttempt | None:
        """The first try with images of other sides or channels that fits, or comes so far at ``least``."""
        assert isinstance(sizes, Sizes)
        whole = [one for one in USUAL_SIDES if one % sizes.patch == 0]
        sides = [one for one in whole if one // sizes.patch <= _MOST_PATCHES_A_SIDE]
        found: BuildAttempt | None = None
        for side, channels in itertools.product(sides, dict.fromkeys((sizes.channels, 3, 1))):
            attempt = self._run(assignment, replace(sizes, height=side, width=side, channels=channels))
            found = attempt if found is None and attempt.level >= least else found
            has_rows = found is not None and found.returned is not None  # for each image, if not of classes
            if attempt.level == Level.FITS or has_rows or self.effort.is_spent:
                break
        return attempt if sides and attempt.level == Level.FITS else found

    def _run(self, assignment: Assignment, sizes: ModelSizes) -> BuildAttempt:
        is_known = self.best is not None and self.best.comes_through  # then no other way is worth all of it
        most = self.effort.numbers if is_known else inf
        attempt = run(self.builder, assignment, sizes, most=most)
        self.effort.spend(attempt.parameters, attempt.computed)
        return attempt


def run(
    builder: Builder,
    assignment: Assignment,
    sizes: ModelSizes,
    *,
    draws: bool = False,
    most: float = inf,
) -> BuildAttempt:
    """Build once and pass one batch, in which no more than ``most`` numbers are computed.

    Where it ``draws`` its parameters, they are always the same.
    """
    attempt, counted, drawn = BuildAttempt(assignment, sizes), Computed(most), Computed()
    try:
        with drawn:
            model = builder.build_to_try(assignment, sizes).eval()
        attempt.level = Level.BUILT
        parts = ModelParts.of(model)
        _look(attempt, parts)
        if norms_one_number(parts):
            raise ValueError("a norm of tokens with one feature each, which leaves nothing of them")
        if attempt.leaves_no_pixels:
            raise ValueError("patches without pixels")
        if draws:
            randomise(model, _SEED, {})
        given = as_given(sizes.input(_SEED), torch.get_default_dtype())
        with torch.no_grad(), taken_apart(), counted:
            output = computed(model(given))
        attempt.level = Level.RAN
        whole = ModelParts.of(model)
        if builder.note_made(parts, whole):
            _look(attempt, whole)
        _judge(attempt, list(tensors(output)))
    except (Exception, SystemExit) as error:
        attempt.error, attempt.operations = error, counted.operations
        if is_out_of_memory(error):
            traceback.clear_frames(error.__traceback__)  # they hold what the next attempt needs
    # what is built shows its parameters; of what is not, as many were drawn for nothing
    attempt.computed = counted.numbers if attempt.level > Level.NOTHING else drawn.numbers
    return attempt


def _look(attempt: BuildAttempt, parts: ModelParts) -> None:
    seen = observe(parts)
    if "channels" not in attempt.claimed:  # else a patch of more pixels may be one of more channels
        seen = {**flattened_patch(parts, seen.get("embed_dim", 0)), **seen}
    attempt.seen = {name: one for name, one in seen.items() if name in vars(attempt.sizes)}
    attempt.embedded = embedded_width(parts)
    attempt.shapes = Counter(tuple(one.shape) for one in parts.parameters)


def as_given(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a copy that the model may write into, of this type if it holds real numbers."""
    return tensor.to(dtype, copy=True) if tensor.is_floating_point() else tensor.clone()


def _is_meant(sizes: AnySizes) -> bool:
    """May a model be meant for images so large? What is misread may show any number."""
    return not isinstance(sizes, Sizes) or max(sizes.height, sizes.width) <= _LARGEST_SIDE


def _of_tokens(found: list[Tensor], sizes: ModelSizes) -> Iterator[Tensor]:
    """What has a row for each token, of each image or of one: scores of all of them, by mistake."""
    axes = [(sizes.batch, sizes.tokens), (sizes.tokens,)] if isinstance(sizes, Sizes) else []
    return (one for one in found if one.shape[:-1] in axes)


def _judge(attempt: BuildAttempt, found: list[Tensor]) -> None:
    sizes = attempt.sizes
    attempt.output = max(found, key=Tensor.numel, default=None)
    axes = sizes.output_axes.split()
    name = next(name for name, letter in sizes.letters.items() if letter == axes[-1])
    wanted = getattr(sizes, name)
    rows = [one.shape[-1] for one in found if one.dim() == len(axes) and one.shape[0] == sizes.batch]
    attempt.returned = name if rows else None
    if name in attempt.claimed and wanted in rows:
        attempt.seen[name] = wanted
    elif rows:
        attempt.seen[name] = rows[0]
    elif name in attempt.claimed and any(wanted == one.shape[-1] for one in _of_tokens(found, sizes)):
        attempt.seen[name] = wanted
    by_token = isinstance(sizes, Sizes) and sizes.tokens == sizes.batch  # or are they rows for each token?
    if rows and not by_token and (attempt.seen[name] == wanted or name not in attempt.claimed):
        attempt.level = Level.FITS
