"""Properties of the whole model, stated between two or more passes: no equation and no reference is needed.

Each function raises CheckFailed where the property does not hold and NotApplicable where it means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from ..submissions.session import Passes
from .drawing import Draw, noise
from .examination import Examination, Example
from .locating.origins import origin
from .locating.parameters import Linear
from .symmetries import (
    DIFFERENT,
    batch_independence,
    example_of,
    far,
    head_permutation,
    identity_block,
    joint_permutation,
    positions_matter,
)
from .verdicts import CheckFailed, NotReached

# Softmax does not see a constant added to all keys: their bias has a gradient of rounding size (2.8e-18).
_NO_GRADIENT = 1e-14

Property = Callable[[Examination], None]


def batch_sizes(examination: Examination) -> None:
    """Batches of 1, 2 and 5 images run, and give each image the same scores."""
    draw = examination.first_draw
    image = noise(replace(draw.sizes, batch=5), draw.seed)
    passes = {count: examination.forward(draw, [image[:count]]) for count in (5, 2, 1)}
    errors = {count: one.error for count, one in passes.items() if one.error is not None}
    if len(errors) == len(passes):
        raise NotReached("the forward pass stops with an exception")
    for count, error in errors.items():
        id = "squeeze-drops-batch" if count == 1 else "batch-size-hard-coded"
        raise CheckFailed(f"a batch of {count} fails: {error}", (id,), draw)
    for count in (1, 2):
        for part, whole in zip(passes[count].passes[0].tensors, passes[5].passes[0].tensors):
            if whole.shape[:1] == (5,) != part.shape[:1] and far(part, whole[:count]):
                ids = ("squeeze-drops-batch",) if part.dim() < whole.dim() else ()
                text = f"what an image gives differs between a batch of {count} and one of 5"
                raise CheckFailed(text, ids, draw)


def responds_to_the_image(examination: Examination) -> None:
    """Two different images give different scores."""
    scores = _scores(_passes(examination, example_of(examination).draw))
    if scores.shape[0] > 1 and float((scores - scores[:1]).abs().max()) < DIFFERENT:
        raise CheckFailed("the scores are the same for every image")


def repeatable(examination: Examination) -> None:
    """In eval mode the same image gives the same scores to the last bit, also with another one in between."""
    draw = example_of(examination).draw
    images = [draw.image, noise(draw.sizes, draw.seed + 1)]
    passes = _passes(examination, draw, images, order=[0, 0, 1, 0])
    first, second, _, last = (one.tensors for one in passes.passes)
    if not _same(first, second):
        raise CheckFailed("two passes in eval mode over the same image differ", _why_random(passes), draw)
    if not _same(first, last):
        raise CheckFailed("the scores of an image depend on the images seen before it", ("state-leak",), draw)


def _why_random(passes: Passes) -> tuple[str, ...]:
    if passes.created:
        return ("params-created-in-forward",)
    if all(one.random_state_kept for one in passes.passes):
        return ()
    return ("functional-dropout-always-on", "sdpa-dropout-in-eval", "dropout-built-in-forward")


def no_side_effects(examination: Examination) -> None:
    """A pass in eval mode leaves the image, the parameters, the mode and the random state as they were."""
    draw = example_of(examination).draw
    passes = _passes(examination, draw)
    if not torch.equal(passes.passes[0].image_after, draw.image):
        raise CheckFailed(
            "the forward pass writes into the image that it was given", ("input-mutated-in-place",), draw
        )
    if passes.created:
        names = ", ".join(passes.created[:3])
        raise CheckFailed(
            f"the forward pass creates parameters: {names}", ("params-created-in-forward",), draw
        )
    if passes.changed:
        raise CheckFailed(f"the forward pass changes {', '.join(passes.changed[:3])}", ("state-leak",), draw)
    if not passes.mode_kept:
        raise CheckFailed("the forward pass switches between train and eval mode", (), draw)
    if not passes.passes[0].random_state_kept:
        ids = ("rng-consumed-in-eval", "reseeds-in-forward")
        raise CheckFailed("the forward pass uses or sets the random state in eval mode", ids, draw)


def gradients(examination: Examination) -> None:
    """Every parameter gets a finite gradient that is not zero, but for the bias of the keys."""
    draw = example_of(examination).draw
    passes = _passes(examination, draw, backward=True)
    if not passes.gradients:
        raise CheckFailed("the model has no registered parameters", ("blocks-in-python-list",))
    missing = [name for name, one in passes.gradients.items() if not one.exists]
    if missing:
        ids = _why_no_gradient(example_of(examination), passes, set(missing))
        raise CheckFailed(f"no gradient reaches {_some(missing)}", ids, draw)
    infinite = [name for name, one in passes.gradients.items() if not one.finite]
    if infinite:
        raise CheckFailed(f"the gradient is not finite in {_some(infinite)}", (), draw)
    exempt = _key_biases(example_of(examination))
    zero = [
        name for name, one in passes.gradients.items() if one.largest < _NO_GRADIENT and name not in exempt
    ]
    if zero:
        raise CheckFailed(f"the gradient is zero in {_some(zero)}", ("unused-parameter",), draw)


def _why_no_gradient(example: Example, passes: Passes, missing: set[str]) -> tuple[str, ...]:
    if not all(passes.gradients[name].asked for name in missing):
        return ("requires-grad-off",)
    if missing.isdisjoint(leaf.name for leaf in example.trace.leaves):
        return ("unused-parameter",)
    return ("path-detached", "no-grad-in-blocks")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _key_biases(example: Example) -> set[str]:
    """Names of the biases of separate projections: one of them is the keys'."""
    found = set()
    for role, map_ in example.walk.roles.items():
        if ".projection" in role and isinstance(map_, Linear) and map_.bias is not None:
            found |= {leaf.name for leaf in origin(example.trace, example.trace.used(map_.bias)).leaves}
    return found


def dtype_kept(examination: Examination) -> None:
    """A bfloat16 model gives bfloat16 scores."""
    draw = example_of(examination).draw
    passes = examination.forward(draw, dtype="bfloat16")
    if passes.error is not None:
        raise CheckFailed(f"the model does not run in bfloat16: {passes.error}", ("dtype-promoted",), draw)
    found = {dtype for _, dtype in passes.passes[0].outputs if "float" in dtype}
    if found - {"bfloat16"}:
        raise CheckFailed(f"a bfloat16 model returns {', '.join(sorted(found))}", ("dtype-promoted",), draw)


def train_and_eval(examination: Examination) -> None:
    """The model runs in train mode, and gives finite scores of the same shape."""
    draw = example_of(examination).draw
    expected = _scores(_passes(examination, draw))
    passes = examination.forward(draw, mode="train")
    if passes.error is not None:
        raise CheckFailed(f"the model does not run in train mode: {passes.error}", (), draw)
    scores = _scores(passes)
    if scores.shape != expected.shape or not bool(torch.isfinite(scores).all()):
        raise CheckFailed("in train mode the scores have another shape, or are not finite", (), draw)


PROPERTIES: Mapping[str, Property] = {
    function.__name__.replace("_", "-"): function
    for function in (
        batch_independence,
        batch_sizes,
        responds_to_the_image,
        joint_permutation,
        positions_matter,
        head_permutation,
        identity_block,
        repeatable,
        no_side_effects,
        gradients,
        dtype_kept,
        train_and_eval,
    )
}


def _passes(
    examination: Examination, draw: Draw, images: list[Tensor] | None = None, **options: object
) -> Passes:
    passes = examination.forward(draw, images or [], **options)
    if passes.error is not None:
        raise CheckFailed(f"the forward pass fails: {passes.error}")
    if not passes.passes[0].tensors:
        raise CheckFailed("the forward pass returns no tensor", (), draw)
    return passes


def _same(first: tuple[Tensor, ...], second: tuple[Tensor, ...]) -> bool:
    return len(first) == len(second) and all(torch.equal(a, b) for a, b in zip(first, second))


def _scores(passes: Passes) -> Tensor:
    """The first returned tensor of two axes, images and classes; the first of all if there is none."""
    tensors = passes.passes[0].tensors
    return next((one for one in tensors if one.dim() == 2), tensors[0])
