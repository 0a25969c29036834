"""What a stage that no equation explains depends on, measured by passes in which a part of the image changes.

Images never see each other. Tokens do in attention alone: past it they are looked at with attention's output
weights at zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import torch
from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ...reference.stages import Stage
from ..locating.comparing import ROUNDING
from ..locating.context import Context
from ..locating.search.axes import members, names_of
from ..locating.steps import Step
from .examination import Examination
from .passes.editing import without_branches
from .verdicts import NotApplicable, NotReached

_MIXING = ("attention_probabilities", "attention_context", "attention_output")  # tokens meet there
_ALIKE = "class_token"  # the same for all images
_PATCH = 1  # the one that changes alone: code that picks one takes the first or the last


@dataclass(frozen=True)
class _Trial:
    """Two passes, and the stages that can be compared in them.

    ``changing`` are the images, or the patches, that differ; ``letters`` the axes along which that shows.
    """

    before: Context
    after: Context
    steps: tuple[Step, ...]
    changing: Tensor
    letters: str
    told: str


def dependence(examination: Examination, step: Step) -> str:
    """A sentence on what ``step`` depends on and must not, or must and does not; "" if neither is seen.

    It is only said of the first stage of which it is true. ``step`` is of the first example's walk.
    """
    for trial in _trials(examination):
        rows = ((one, examination.family.stage(one.key)) for one in trial.steps)
        odd = ((one, _odd(one, row, trial, examination.walk.class_row)) for one, row in rows)
        first, told = next(((one, told) for one, told in odd if told), (None, ""))
        if first is step:
            return told
    return ""


def _trials(examination: Examination) -> Iterator[_Trial]:
    try:
        yield from _with_other_images(examination)
        yield from _with_other_patches(examination)
    except NotApplicable:  # other operations run then
        return


def _with_other_images(examination: Examination) -> Iterator[_Trial]:
    image = examination.input(examination.first_draw)
    first = torch.arange(len(image)) == 0
    steps = tuple(one for one in examination.walk.steps if one.key != _ALIKE)
    for changing, told in ((first, "only image 0 changes"), (~first, "all images but image 0 change")):
        if bool(changing.any()):
            pixels = changing.reshape(-1, *[1] * (image.dim() - 1))
            after = examination.again(torch.where(pixels, _other(image, examination.walk.sizes), image))
            yield _Trial(examination.before(), after, steps, changing, "B", told)


def _with_other_patches(examination: Examination) -> Iterator[_Trial]:
    image, sizes = examination.walk.context.image, examination.walk.sizes
    if image.dim() != 4 or sizes.patches <= _PATCH:  # a component that is given tokens
        return
    steps = tuple(_before_tokens_meet(examination.walk.steps))
    fixed, also = {}, ""
    with suppress(NotApplicable, NotReached):
        fixed = without_branches(examination.examples[0], ("out",))
    if fixed:
        steps = tuple(one for one in examination.walk.steps if one.key not in _MIXING)
        also = " (with the output projection of attention at 0)"
    before = examination.again(image, fixed)
    one = torch.arange(sizes.patches) == _PATCH
    for changing, told in (
        (one, f"only patch {_PATCH} changes"),
        (~one, f"all patches but patch {_PATCH} change"),
    ):
        after = examination.again(torch.where(_pixels(changing, sizes), _other(image, sizes), image), fixed)
        yield _Trial(before, after, steps, changing, "N T", told + also)


def _other(image: Tensor, sizes: ModelSizes) -> Tensor:
    if not image.is_floating_point():
        return sizes.input(len(image))
    generator = torch.Generator().manual_seed(len(image))
    return torch.randn(image.shape, generator=generator, dtype=image.dtype)


def _before_tokens_meet(steps: list[Step]) -> Iterator[Step]:
    for step in steps:
        if step.key in _MIXING:
            return
        yield step


def _pixels(patches: Tensor, sizes: ModelSizes) -> Tensor:
    """Which pixels these patches hold, as H W."""
    rows = patches.reshape(sizes.grid).repeat_interleave(sizes.patch, 0)
    return rows.repeat_interleave(sizes.patch, 1)


def _odd(step: Step, row: Stage, trial: _Trial, class_row: int) -> str:
    """What changes at a stage and must not, or the reverse."""
    axes, names = row.axes.split(), names_of(row.axes)
    before, after = (one.stages[step.key, step.block] for one in (trial.before, trial.after))
    if before.dim() != len(axes):
        return ""
    along = [axis for axis, letter in enumerate(axes) if letter in trial.letters.split()]
    changed = _changed(before, after, along)
    expected = _expected(trial.changing, [axes[axis] for axis in along], class_row)
    if changed.shape != expected.shape:  # of another shape than the stage has
        return ""
    for wrong, does in ((changed & ~expected, "changes"), (expected & ~changed, "stays the same")):
        if bool(wrong.any()):
            index = wrong.nonzero()[0].tolist()
            where = " with ".join(members(names[axis], [at]) for axis, at in zip(along, index))
            return f"{where.capitalize() or 'It'} {does} here when {trial.told}."
    return ""


def _changed(before: Tensor, after: Tensor, along: list[int]) -> Tensor:
    """For each entry along these axes: is any number another one?"""
    far = (before - after).abs() > ROUNDING * after.abs().max()
    for axis in reversed(range(far.dim())):
        far = far if axis in along else far.any(axis)
    return far


def _expected(changing: Tensor, letters: list[str], class_row: int) -> Tensor:
    """Which entries change with these images or patches: a pair of tokens with either."""
    none = torch.zeros(1, dtype=torch.bool)
    tokens = torch.cat([changing, none] if class_row else [none, changing])
    match letters:
        case ["T", "T"]:
            return tokens[:, None] | tokens
        case ["T"]:
            return tokens
        case [_]:
            return changing
        case _:
            return none[0]
