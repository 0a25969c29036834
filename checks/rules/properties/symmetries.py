"""Properties that compare the student's tensors of two passes: with another image, or other weights.

Each function raises CheckFailed where the property does not hold and NotApplicable where it means nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ....submissions.host.trace import Use
from ...examining.examination import Examination
from ...examining.passes.editing import (
    permuted_heads,
    permuted_patches,
    permuted_positions,
    scaled_scores,
    without_branches,
)
from ...examining.passes.example import Example
from ...examining.verdicts import CheckFailed, NotApplicable, NotAsked, NotReached
from ...locating.comparing import DIFFERENT, equal, far
from ...locating.context import Context
from ...locating.search.origins import origin
from ...locating.search.parameter_search import Norm
from . import holds
from .passes import example_of, of_block_1

_BY_COLUMNS = {"patch-columns-first", "conv-tokens-column-major"}
_OF_HEADS = {"attention-bias"}
_ON_PLACES = {"conv-stem", "rotary-positions", *_OF_HEADS}
_OF_CHANNELS = {"unfold-view-no-permute", "patch-axes-mixed"}  # which may be right for images of one channel


@holds(order=20)
def joint_permutation(examination: Examination) -> None:
    """Patches permuted together with their positions give the same logits.

    Else: Patches permuted together with their positions give other logits
    """
    example = example_of(examination)
    if _BY_COLUMNS & example.walk.ids:
        raise NotApplicable("the patches are numbered column by column, which is told at S02 or S04")
    if _OF_CHANNELS & example.walk.ids:
        raise NotApplicable("the patches are mixed where there are several channels, which is told at S02")
    if told := _ON_PLACES & example.walk.ids:
        raise NotApplicable(
            f"tokens hang on where their patches lie, by a variant ({', '.join(sorted(told))})"
        )
    name, table = _position_table(example)
    order = torch.randperm(
        example.draw.sizes.patches, generator=torch.Generator().manual_seed(examination.seed)
    )
    image = permuted_patches(example.draw.image, example.draw.sizes, order)
    row = _row_of_token(example, examination.before(), table)
    fixed = {name: permuted_positions(table, example.draw.sizes, order, row)}
    before, after = _final(examination.before()), _final(examination.again(image, fixed))
    if before.shape == after.shape and far(before, after):
        raise CheckFailed(
            "permuting the patches together with their positions changes the logits", (), example.draw
        )


@holds(order=20)
def positions_matter(examination: Examination) -> None:
    """Patches permuted without their positions give other logits.

    Else: The order of the patches does not matter to the model
    """
    example = example_of(examination)
    order = torch.arange(example.draw.sizes.patches).roll(1)
    image = permuted_patches(example.draw.image, example.draw.sizes, order)
    if not far(_final(examination.before()), _final(examination.again(image)), DIFFERENT):
        raise CheckFailed("shuffling the patches does not change the logits", (), example.draw)


def _position_table(example: Example) -> tuple[str, Tensor]:
    use = example.walk.roles.get("positions")
    if not isinstance(use, Use):
        raise NotApplicable("no position embedding was found")
    leaves = origin(example.trace, example.trace.used(use)).leaves
    sizes = example.draw.sizes
    if len(leaves) != 1 or leaves[0].kind == "tensor" or leaves[0].reference.shape[-1:] == ():
        raise NotApplicable("the position embedding is not a single parameter that could be permuted")
    table = example.trace.tensor(leaves[0].reference)
    if table.numel() != sizes.tokens * sizes.embed_dim or sizes.tokens not in table.shape:
        raise NotApplicable("the position embedding does not have one row for each token")
    return leaves[0].name, table


def _row_of_token(example: Example, stages: Context, table: Tensor) -> int:
    """Of the table; a class token at the end may have the first row all the same."""
    added = (stages.stage("positioned_tokens") - stages.stage("tokens"))[0, example.class_row]
    first = table.select(table.shape.index(example.draw.sizes.tokens), 0).flatten()
    return 0 if equal(added, first) else example.class_row


@holds(order=20)
def head_permutation(examination: Examination) -> None:
    """Heads permuted in all four weight matrices (query, key, value, output) give the same attention output.

    Else: The attention output depends on the order of the heads
    """
    example = example_of(examination)
    if _OF_HEADS & example.walk.ids:
        raise NotApplicable("each head has a bias of its own, which stays where it is")
    fixed, order = permuted_heads(example)
    stages, again = examination.before(), examination.again(fixed=fixed)
    before, after = of_block_1(stages, "attention_output"), of_block_1(again, "attention_output")
    if far(before, after):
        raise CheckFailed("permuting the heads changes the attention output", (), example.draw)
    maps, permuted = (
        of_block_1(stages, "attention_probabilities"),
        of_block_1(again, "attention_probabilities"),
    )
    if maps.shape == permuted.shape and far(maps[:, order], permuted):
        raise CheckFailed("permuting the heads does not permute the attention maps", (), example.draw)


@holds(order=20)
def identity_block(examination: Examination) -> None:
    """With zero output weights a block returns its input (up to norms): the residual connections work.

    Else: With zero output weights a block does not return its input
    """
    example = example_of(examination)
    for key in ("post_attention_norm", "post_mlp_norm"):
        if accepted := examination.accepted_at(key):
            raise NotAsked(
                f"the assignment accepts a block that returns something else: {', '.join(accepted)}"
            )
    again = examination.again(fixed=without_branches(example))
    expected = of_block_1(again, "block_input")
    for role in ("block1.norm2", "block1.norm3") if example.walk.normed else ():
        norm = example.walk.roles.get(role)
        if isinstance(norm, Norm):
            expected = norm.right(again, expected)
    if far(expected, of_block_1(again, "block_output")):
        raise CheckFailed(
            "a block whose attention and MLP return zero does not return its input", (), example.draw
        )


def _final(context: Context) -> Tensor:
    if ("logits", 0) not in context.stages:
        raise NotReached("the logits were not found")
    return context.stage("logits")


@holds(order=20, begun=True)
def finite_attention(examination: Examination) -> None:
    """Large scores give finite attention probabilities.

    Else: Large scores give attention probabilities that are NaN or infinite
    """
    example = example_of(examination)
    if examination.is_wrong("attention_probabilities"):
        raise NotApplicable("the attention probabilities are also wrong for small scores")
    again = examination.again(fixed=scaled_scores(example))
    if not bool(torch.isfinite(of_block_1(again, "attention_probabilities")).all()):
        text = "scores in the thousands give attention probabilities that are NaN"
        raise CheckFailed(text, ("naive-exp-overflow",), example.draw)
