"""What always holds of a stage, whatever the weights: checked on the student's own numbers.

Each invariant returns one sentence where it is broken, else None.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ...reference.equations import cut_patches
from ..examining.passes.example import Example
from ..examining.passes.replay import Seen
from ..locating.search.norms import LARGEST, Norm, standardised
from ..locating.search.shapes import at_test_sizes, shaped

# Sums and means of at most a thousand float64 numbers near one: rounding stays under 1e-13.
_EXACT = 1e-12
# A norm's weight is divided out again, and may be as small as a tenth.
_NORMED = 1e-8
# The lowest point of the exact GELU, at -0.7518; the tanh form goes to -0.170041.
_LOWEST_GELU = -0.1701

Invariant = Callable[[Example, Seen], str | None]


def _close(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and bool(((a - b).abs() <= _EXACT * (1 + b.abs())).all())


def _patches(example: Example, seen: Seen) -> str | None:
    sizes = example.draw.sizes
    flat = seen.student.reshape(sizes.batch, -1)
    right = cut_patches(example.draw.image, sizes.patch).reshape(sizes.batch, -1)
    same = flat.shape == right.shape and torch.equal(flat.sort(-1).values, right.sort(-1).values)
    return None if same else "the patches do not hold every pixel of the image exactly once"


def _flattened(example: Example, seen: Seen) -> str | None:
    patches = example.first("patches")
    if patches is None:
        return None
    per_patch = patches.student.flatten(2)
    same = seen.student.shape == per_patch.shape
    same = same and torch.equal(seen.student.sort(-1).values, per_patch.sort(-1).values)
    return None if same else "a row does not hold the values of one patch"


def _finite(example: Example, seen: Seen) -> str | None:
    return None if bool(torch.isfinite(seen.student).all()) else "some values are NaN or infinite"


def _class_token(example: Example, seen: Seen) -> str | None:
    same = torch.equal(seen.student, seen.student[:1].expand_as(seen.student))
    return None if same else "the class token is not the same for every image"


def _tokens(example: Example, seen: Seen) -> str | None:
    token, patches = example.first("class_token"), example.first("patch_embeddings")
    if token is None or patches is None:
        return None
    if seen.student.shape[1] != patches.student.shape[1] + 1:
        return f"{patches.student.shape[1]} patches and a class token make {seen.student.shape[1]} tokens"
    if not _close(seen.student[:, :1], token.student):
        return "row 0 is not the class token"
    return (
        None
        if _close(seen.student[:, 1:], patches.student)
        else "the rows after row 0 are not the patch embeddings"
    )


def _positioned(example: Example, seen: Seen) -> str | None:
    before = example.first("tokens")
    if before is None or before.student.shape != seen.student.shape:
        return None
    added = seen.student - before.student
    if not _close(added, added[:1].expand_as(added)):
        return "what is added to the tokens is not the same for every image"
    rounding = _EXACT * (1 + float(seen.student.abs().max()))
    # a table over rows and columns may have zeros for the class token
    patches = added.roll(-example.class_row, 1)[:, 1:]
    if not bool(patches.abs().amax((0, 2)).gt(rounding).all()):
        return "at least one token gets no position"
    rows = added[0]
    different = (rows[:, None] - rows[None]).abs().amax(-1) + torch.eye(len(rows), dtype=rows.dtype)
    return None if bool((different > rounding).all()) else "two tokens get the same position"


def _shaped_as(key: str) -> Invariant:
    def invariant(example: Example, seen: Seen) -> str | None:
        other = example.first(key)
        if other is None or other.student.shape == seen.student.shape:
            return None
        mine, theirs = shaped(seen.student.shape), shaped(other.student.shape)
        where = at_test_sizes(example.draw.sizes)
        return f"its shape is {mine}, but what it is added to or made from has {theirs} {where}"

    return invariant


def _probabilities(axis: str) -> Invariant:
    def invariant(example: Example, seen: Seen) -> str | None:
        if bool((seen.student < 0).any()):
            return f"no value may be negative, but the lowest is {float(seen.student.min()):.3g}"
        sums = seen.student.sum(-1)
        if bool(((sums - 1).abs() <= _EXACT).all()):
            return None
        low, high = float(sums.min()), float(sums.max())
        return f"each row must sum to 1 over {axis}, but {_sums(low, high)}"

    return invariant


def _sums(low: float, high: float) -> str:
    least, most = f"{low:.4g}", f"{high:.4g}"
    return f"yours sum to {least}" if least == most else f"your sums range from {least} to {most}"


def _context(example: Example, seen: Seen) -> str | None:
    values = [one for one in example.all("value") if one.step.block == seen.step.block]
    if not values or values[0].student.shape[-1] != seen.student.shape[-1]:
        return None
    if any(_probabilities("the keys")(example, one) for one in example.all("attention_probabilities")):
        return None  # averages under wrong weights may lie anywhere, and S13 is to blame
    value = values[0].student
    slack = _EXACT * float(value.abs().max())
    low, high = value.amin(2, keepdim=True) - slack, value.amax(2, keepdim=True) + slack
    inside = bool(((seen.student >= low) & (seen.student <= high)).all())
    return None if inside else "a token's context is outside the range of the values that it averages"


def _normed(role: str) -> Invariant:
    def invariant(example: Example, seen: Seen) -> str | None:
        norm = example.walk.roles.get(role.format(seen.step.block))
        if not isinstance(norm, Norm) or (role == "final_norm" and _normed_later(example)):
            return None
        plain = standardised(example.context, seen.student, norm)
        mean, square = plain.mean(-1), plain.square().mean(-1)
        if float(mean.abs().max()) > _NORMED:
            return (
                "before scale and shift each token must have mean 0, but one"
                f" has {float(mean.abs().max()):.3g}"
            )
        over = square - 1
        if norm.eps <= LARGEST:  # which makes it smaller than 1 where tokens hardly vary
            over = over.clamp(min=0)
        worst = float(over.abs().max())
        expected = 1e-2  # an eps that is larger makes it smaller by eps over the variance, which is near 1
        return (
            None
            if worst < expected
            else f"before scale and shift each token must have variance 1, but one is off by {worst:.3g}"
        )

    return invariant


def _normed_later(example: Example) -> bool:
    """Is the final norm applied to the class token alone?"""
    return "final-norm-after-readout" in example.walk.ids


def _hidden(example: Example, seen: Seen) -> str | None:
    lowest = float(seen.student.min())
    return (
        None
        if lowest >= _LOWEST_GELU
        else f"the lowest hidden value is {lowest:.3g}, but GELU is never below -0.17"
    )


def _class_probabilities(example: Example, seen: Seen) -> str | None:
    logits = example.first("logits")
    broken = _probabilities("the classes")(example, seen)
    if broken or logits is None:
        return broken
    same = torch.equal(logits.student.argmax(-1), seen.student.argmax(-1))
    return None if same else "the most probable class is not the one with the largest logit"


INVARIANTS: dict[str, Invariant] = {
    "patches": _patches,
    "flattened_patches": _flattened,
    "patch_embeddings": _finite,
    "class_token": _class_token,
    "tokens": _tokens,
    "positioned_tokens": _positioned,
    "block_input": _shaped_as("positioned_tokens"),
    "query": _finite,
    "key": _finite,
    "value": _finite,
    "attention_scores": _finite,
    "attention_probabilities": _probabilities("the keys"),
    "attention_context": _context,
    "attention_output": _shaped_as("block_input"),
    "post_attention_norm": _normed("block{}.norm2"),
    "mlp_hidden": _hidden,
    "mlp_output": _shaped_as("block_input"),
    "post_mlp_norm": _normed("block{}.norm3"),
    "block_output": _shaped_as("block_input"),
    "second_block_output": _shaped_as("block_input"),
    "last_block_output": _shaped_as("block_input"),
    "final_sequence": _normed("final_norm"),
    "class_representation": _finite,
    "logits": _finite,
    "class_probabilities": _class_probabilities,
}
