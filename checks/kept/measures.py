"""What is measured on the student's tensors of one stage, so that a report only has to draw it.

Every function gets the first example, the stage as it was seen there and the number of an image in the batch,
and gives one array for that image. It raises LookupError, ValueError or RuntimeError where the submission has
no such thing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from ..examination import Example
from ..locating.norms import Norm
from ..locating.parameters import Linear
from ..replay import Seen

Measure = Callable[[Example, Seen, int], Tensor]

_POINTS = 240  # of an activation's curve: enough to see its shape


def pixels(example: Example, seen: Seen, image: int) -> Tensor:
    """The image that the stages were computed from."""
    return example.walk.context.stage("image")[image]


def grid(example: Example, seen: Seen, image: int) -> Tensor:
    """Height and width of the image, and the side of a patch."""
    sizes = example.draw.sizes
    return torch.tensor([sizes.height, sizes.width, sizes.patch])


def sources(example: Example, seen: Seen, image: int) -> Tensor:
    """Where in the image each number was read: the patch's number, plus how far into it the pixel stands.

    That share counts row by row. NaN where the number is not in the image.
    """
    picture, numbers = pixels(example, seen, image), seen.student[image]
    values, order = picture.reshape(-1).sort()
    near = torch.searchsorted(values, numbers.contiguous()).clamp(max=len(values) - 1)
    within = order[near] % picture[0].numel()  # whatever the channel
    side, columns = example.draw.sizes.patch, picture.shape[-1]
    y, x = within // columns, within % columns
    patch = (y // side) * (columns // side) + x // side
    share = ((y % side) * side + x % side) / side**2
    return torch.where(values[near] == numbers, patch + share, torch.nan)


def similarity(example: Example, seen: Seen, image: int) -> Tensor:
    """The cosine of the angle between each two positions: what was added to S06."""
    positions = seen.student[image] - example.walk.context.stage("tokens")[image]
    cosines: Tensor = cosine_similarity(positions[:, None], positions[None], dim=-1)
    return cosines


def norms(example: Example, seen: Seen, image: int) -> Tensor:
    """The length of each vector, such as that of every head's query for every token."""
    lengths: Tensor = torch.linalg.vector_norm(seen.student[image], dim=-1)
    return lengths


def row_sums(example: Example, seen: Seen, image: int) -> Tensor:
    """What a token's attention sums to, in each head."""
    return seen.student[image].sum(-1)


def class_attention(example: Example, seen: Seen, image: int) -> Tensor:
    """What the class token attends to, in each head, as a picture of the grid of patches."""
    row = example.walk.class_row
    shares = seen.student[image][:, row]
    patches = shares[:, 1:] if row == 0 else shares[:, :-1]
    return torch.stack([one.reshape(example.draw.sizes.grid) for one in patches])


def token_statistics(role: str) -> Measure:
    """Mean and standard deviation of each token before a norm, and after it without its weight and bias."""

    def measure(example: Example, seen: Seen, image: int) -> Tensor:
        context, block = example.walk.context, seen.step.block
        norm = example.walk.roles[f"block{block}.{role}"]
        if not isinstance(norm, Norm):
            raise ValueError("batch norm is nothing a token has of its own")
        first, second = _SUMMED[role]
        before = context.stage(first, block) + context.stage(second, block)
        after = seen.student
        after = after if norm.bias is None else after - context.use(norm.bias).reshape(-1)
        after = after if norm.weight is None else after / context.use(norm.weight).reshape(-1)
        both = torch.stack([before[image], after[image]])
        return torch.stack([both.mean(-1), both.std(-1, correction=0)], 1)

    return measure


_SUMMED = {"norm2": ("block_input", "attention_output"), "norm3": ("post_attention_norm", "mlp_output")}


def curve(example: Example, seen: Seen, image: int) -> Tensor:
    """Numbers before the activation, in order, what became of each, and what the equation makes of it."""
    context, block = example.walk.context, seen.step.block
    first = example.walk.roles[f"block{block}.fc1"]
    if not isinstance(first, Linear):
        raise ValueError("the hidden layer is no linear map")
    before = first(context, context.stage("post_attention_norm", block))[image].reshape(-1)
    before, order = before.sort()
    picked = torch.linspace(0, len(before) - 1, min(_POINTS, len(before))).long()
    after, right = (one[image].reshape(-1)[order] for one in (seen.student, seen.right))
    return torch.stack([before[picked], after[picked], right[picked]])


def stream(example: Example, seen: Seen, image: int) -> Tensor:
    """The length of each token before the first block and after every block; the class token comes first."""
    stages = example.walk.context.stages
    outputs = [stages["block_output", number] for number in range(1, example.walk.blocks + 1)]
    tokens = torch.stack([one[image].norm(dim=-1) for one in (stages["block_input", 1], *outputs)])
    return tokens.roll(-example.walk.class_row % tokens.shape[1], 1)


MEASURES: Mapping[str, Mapping[str, Measure]] = {
    "patches": {"pixels": pixels, "grid": grid, "sources": sources},
    "flattened_patches": {"grid": grid, "sources": sources},
    "positioned_tokens": {"similarity": similarity},
    "query": {"norms": norms},
    "key": {"norms": norms},
    "value": {"norms": norms},
    "attention_probabilities": {"row_sums": row_sums, "class_attention": class_attention},
    "attention_context": {"norms": norms},
    "post_attention_norm": {"statistics": token_statistics("norm2")},
    "post_mlp_norm": {"statistics": token_statistics("norm3")},
    "mlp_hidden": {"curve": curve},
    **{key: {"stream": stream} for key in ("block_output", "second_block_output", "last_block_output")},
    "final_sequence": {"stream": stream},
}
