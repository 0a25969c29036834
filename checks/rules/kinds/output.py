"""What a model returns beside its scores when it is asked to: are they the tensors that they claim to be?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.passes.example import Example
from ...examining.verdicts import CheckFailed, NotAsked, NotReached
from ...locating.comparing import equal
from ...locating.search.shapes import at_test_sizes, shaped
from ..declaring import each_of
from ..judging import demand_finished
from ..rulebook import Forms, rulebook_of


def patch_tokens(example: Example) -> Forms:
    """The tokens of the patches after the last block, B N D; the right form first."""
    sequence = _of(example, "final_sequence")[0]
    row = example.walk.class_row % sequence.shape[1]
    others = [token for token in range(sequence.shape[1]) if token != row]
    yield "the patch tokens", (), sequence[:, others]
    yield "all tokens, the class token among them", (), sequence
    yield "the patch embeddings before the blocks", (), _of(example, "patch_embeddings")[0]


def class_attention(example: Example) -> Forms:
    """From the class token to every patch, L B h gh gw; the right form first."""
    grid = example.draw.sizes.grid
    maps = torch.stack(_of(example, "attention_probabilities"))
    scores = torch.stack(_of(example, "attention_scores"))
    right = _as_grid(maps[..., 0, 1:], grid)
    yield "attention from the class token to the patches", (), right
    yield "attention of all tokens to all tokens", (), maps
    yield "attention from the patches to the class token", (), _as_grid(maps[..., 1:, 0], grid)
    yield "attention that is averaged over the heads", ("head-averaged-weights",), right.mean(2)
    yield "the scores before the softmax", (), _as_grid(scores[..., 0, 1:], grid)
    yield "the attention of the last block alone", (), right[-1]
    if grid[0] != grid[1]:
        yield "the grid read column by column", (), _as_grid(maps[..., 0, 1:], grid[::-1]).mT


OUTPUTS: Mapping[str, Callable[[Example], Forms]] = {
    "patch-tokens": patch_tokens,
    "class-attention": class_attention,
}
_STAGES = {"patch-tokens": "final_sequence", "class-attention": "attention_probabilities"}


@each_of(
    Kind(
        id="output",
        group="outputs",
        pays_for="the extra outputs of the model",
        order=90,
        part="model",
        severity="major",
        finished=True,
    ),
    lambda family: {name: name for name in rulebook_of(family).outputs},
)
def check_output(examination: Examination, name: str) -> None:
    """The extra output is what its name says.

    Else: An extra output is not what was asked for
    """
    demand_finished(examination)
    if name not in examination.assignment.outputs:
        raise NotAsked("this assignment does not ask for it")
    example = examination.examples[0]
    if not {_STAGES[name], "attention_scores"} <= {one.step.key for one in example.seen}:
        raise NotReached(f"{_STAGES[name]} was not found in the forward pass")
    passes = examination.forward(example.draw, [example.draw.image], switches=True)
    if passes.error is not None:
        raise CheckFailed(f"with its optional outputs on, the forward pass fails: {passes.error}")
    returned = passes.passes[0].tensors
    right, *others = rulebook_of(examination.family).outputs[name](example)
    if any(equal(one.double(), right[2]) for one in returned):
        return
    where = at_test_sizes(example.draw.sizes)
    wanted = f"{right[0]} ({shaped(right[2].shape)})"
    for what, ids, tensor in others:
        if any(equal(one.double(), tensor) for one in returned):
            raise CheckFailed(f"expected {wanted}, got {what} ({shaped(tensor.shape)}) {where}", ids)
    shapes = ", ".join(shaped(one.shape) for one in returned)
    raise CheckFailed(
        f"expected {wanted}, but nothing that is returned is that; its shapes are {shapes} {where}"
    )


def _of(example: Example, key: str) -> list[Tensor]:
    return [one.student for one in example.all(key)]


def _as_grid(patches: Tensor, grid: tuple[int, int]) -> Tensor:
    return patches.reshape(*patches.shape[:-1], *grid)
