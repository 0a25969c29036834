"""Properties of the whole model, stated between two or more passes: no equation and no reference is needed.

Each function raises CheckFailed where the property does not hold and NotApplicable where it means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from ..submissions.session import Passes
from ..submissions.trace import Use
from .drawing import Draw, noise
from .editing import permuted_heads, permuted_patches, permuted_positions, without_branches
from .examination import Examination, Example
from .locating.context import Context
from .locating.origins import origin
from .locating.parameters import Linear, Norm
from .verdicts import CheckFailed, NotApplicable, NotReached

# Batched and single passes differ by at most 5.3e-15 of the largest value in float64; mistakes by far more.
_ROUNDING = 1e-9
# Two different random images must give scores that differ by more than rounding.
_DIFFERENT = 1e-6
# Softmax does not see a constant added to all keys: their bias has a gradient of rounding size (2.8e-18).
_NO_GRADIENT = 1e-14

Property = Callable[[Examination], None]


def batch_independence(examination: Examination) -> None:
    """Every stage of an image is the same whatever else is in the batch."""
    example = _example(examination)
    image = example.draw.image
    others = noise(example.draw.sizes, example.draw.seed + 1)
    others[0] = image[0]
    before, after = examination.again(), examination.again(others)
    for (key, block), tensor in before.items():
        if key in ("image", "class_token") or tensor.shape[0] != example.draw.sizes.batch:
            continue
        if _far(tensor[0], after[key, block][0]):
            where = f"{key.replace('_', ' ')}{f' of block {block}' if block else ''}"
            raise CheckFailed(
                f"{where} of the first image changes when the other images change", (), example.draw
            )


def batch_sizes(examination: Examination) -> None:
    """Batches of 1, 2 and 5 images run, and give each image the same scores."""
    draw = examination.draws[0]
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
            if whole.shape[:1] == (5,) != part.shape[:1] and _far(part, whole[:count]):
                ids = ("squeeze-drops-batch",) if part.dim() < whole.dim() else ()
                text = f"what an image gives differs between a batch of {count} and one of 5"
                raise CheckFailed(text, ids, draw)


def responds_to_the_image(examination: Examination) -> None:
    """Two different images give different scores."""
    scores = _scores(_passes(examination, _example(examination).draw))
    if scores.shape[0] > 1 and float((scores - scores[:1]).abs().max()) < _DIFFERENT:
        raise CheckFailed("the scores are the same for every image")


def joint_permutation(examination: Examination) -> None:
    """Patches and their position rows, permuted together, leave the scores unchanged."""
    example = _example(examination)
    name, table = _position_table(example)
    order = torch.randperm(
        example.draw.sizes.patches, generator=torch.Generator().manual_seed(examination.seed)
    )
    image = permuted_patches(example.draw.image, example.draw.sizes, order)
    fixed = {name: permuted_positions(table, example.draw.sizes, order)}
    before, after = _final(examination.again()), _final(examination.again(image, fixed))
    if before.shape == after.shape and _far(before, after):
        raise CheckFailed(
            "permuting the patches together with their positions changes the scores", (), example.draw
        )


def positions_matter(examination: Examination) -> None:
    """Patches permuted alone change the scores."""
    example = _example(examination)
    order = torch.arange(example.draw.sizes.patches).roll(1)
    image = permuted_patches(example.draw.image, example.draw.sizes, order)
    if not _far(_final(examination.again()), _final(examination.again(image)), _DIFFERENT):
        raise CheckFailed("shuffling the patches does not change the scores", (), example.draw)


def _position_table(example: Example) -> tuple[str, Tensor]:
    use = example.walk.roles.get("positions")
    if not isinstance(use, Use):
        raise NotApplicable("no table of positions was found")
    leaves = origin(example.trace, example.trace.used(use)).leaves
    tokens = example.draw.sizes.tokens * example.draw.sizes.embed_dim
    if len(leaves) != 1 or leaves[0].kind == "tensor" or leaves[0].reference.shape[-1:] == ():
        raise NotApplicable("the positions are no single parameter that could be permuted")
    table = example.trace.tensor(leaves[0].reference)
    if table.numel() != tokens:
        raise NotApplicable("the table of positions has other rows than one for each token")
    return leaves[0].name, table


def head_permutation(examination: Examination) -> None:
    """Heads permuted in the query, key, value and output weights leave the attention output unchanged."""
    example = _example(examination)
    fixed, order = permuted_heads(example)
    stages, again = examination.again(), examination.again(fixed=fixed)
    before, after = _of_block_1(stages, "attention_output"), _of_block_1(again, "attention_output")
    if _far(before, after):
        raise CheckFailed("permuting the heads changes the attention output", (), example.draw)
    maps, permuted = (
        _of_block_1(stages, "attention_probabilities"),
        _of_block_1(again, "attention_probabilities"),
    )
    if maps.shape == permuted.shape and _far(maps[:, order], permuted):
        raise CheckFailed("permuting the heads does not permute the attention maps", (), example.draw)


def identity_block(examination: Examination) -> None:
    """With output weights of zero, a block hands on its input, through the norms on that path."""
    example = _example(examination)
    fixed = without_branches(example)
    again = examination.again(fixed=fixed)
    context = Context(examination.trace(example.draw, fixed=fixed), example.draw.sizes)
    expected = _of_block_1(again, "block_input")
    for role in ("block1.norm2", "block1.norm3") if example.walk.architecture in ("report", "post-norm") else ():
        norm = example.walk.roles.get(role)
        if isinstance(norm, Norm):
            expected = norm.right(context, expected)
    if _far(expected, _of_block_1(again, "block_output")):
        raise CheckFailed(
            "a block whose attention and MLP give zero does not hand on its input", (), example.draw
        )


def repeatable(examination: Examination) -> None:
    """In eval mode the same image gives the same scores to the last bit, also with another one in between."""
    draw = _example(examination).draw
    images = [draw.image, noise(draw.sizes, draw.seed + 1)]
    passes = _passes(examination, draw, images, order=[0, 0, 1, 0])
    first, second, _, last = (one.tensors for one in passes.passes)
    if not _same(first, second):
        random = not all(one.random_state_kept for one in passes.passes)
        ids = (
            ("functional-dropout-always-on", "sdpa-dropout-in-eval", "dropout-built-in-forward")
            if random
            else ()
        )
        raise CheckFailed("two passes in eval mode over the same image differ", ids, draw)
    if not _same(first, last):
        raise CheckFailed("the scores of an image depend on the images seen before it", ("state-leak",), draw)


def no_side_effects(examination: Examination) -> None:
    """A pass in eval mode leaves the image, the parameters, the mode and the random state as they were."""
    draw = _example(examination).draw
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
    draw = _example(examination).draw
    passes = _passes(examination, draw, backward=True)
    if not passes.gradients:
        raise CheckFailed("the model has no registered parameters", ("blocks-in-python-list",))
    missing = [name for name, one in passes.gradients.items() if not one.exists]
    if missing:
        ids = ("path-detached", "unused-parameter", "requires-grad-off")
        raise CheckFailed(f"no gradient reaches {_some(missing)}", ids, draw)
    infinite = [name for name, one in passes.gradients.items() if not one.finite]
    if infinite:
        raise CheckFailed(f"the gradient is not finite in {_some(infinite)}", (), draw)
    exempt = _key_biases(_example(examination))
    zero = [
        name
        for name, one in passes.gradients.items()
        if one.largest < _NO_GRADIENT and name not in exempt
    ]
    if zero:
        raise CheckFailed(f"the gradient is zero in {_some(zero)}", ("unused-parameter",), draw)


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
    draw = _example(examination).draw
    passes = examination.forward(draw, dtype="bfloat16")
    if passes.error is not None:
        raise CheckFailed(f"the model does not run in bfloat16: {passes.error}", ("dtype-promoted",), draw)
    found = {dtype for _, dtype in passes.passes[0].outputs if "float" in dtype}
    if found - {"bfloat16"}:
        raise CheckFailed(f"a bfloat16 model returns {', '.join(sorted(found))}", ("dtype-promoted",), draw)


def train_and_eval(examination: Examination) -> None:
    """The model runs in train mode, and gives finite scores of the same shape."""
    draw = _example(examination).draw
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


def _example(examination: Examination) -> Example:
    if examination.crash is not None:
        raise NotReached("the forward pass stops with an exception")
    return examination.examples[0]


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


def _far(a: Tensor, b: Tensor, tolerance: float = _ROUNDING) -> bool:
    if a.shape != b.shape:
        return True
    return bool((a - b).abs().max() > tolerance * (1 + b.abs().max()))


Stages = Mapping[tuple[str, int], Tensor]


def _final(stages: Stages) -> Tensor:
    if ("logits", 0) not in stages:
        raise NotReached("the logits were not found")
    return stages["logits", 0]


def _of_block_1(stages: Stages, key: str) -> Tensor:
    if (key, 1) not in stages:
        raise NotReached(f"{key.replace('_', ' ')} was not found")
    return stages[key, 1]
