"""What is measured on the student's tensors of one stage, so that a report only has to draw it.

Every function gets a pass, the stage as it was seen there and the number of an image in the batch,
and gives one array for that image. It raises LookupError, ValueError or RuntimeError where the submission has
no such thing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from ...reference.model_sizes import ModelSizes
from ...reference.normalisation import undo
from .passes.replay import Seen


class MeasuredPass(Protocol):
    """What is measured on. Members raise LookupError or ValueError where the code has no such thing."""

    @property
    def sizes(self) -> ModelSizes: ...

    @property
    def class_row(self) -> int:
        """Where the class token stands: 0 or -1."""

    @property
    def stream(self) -> Sequence[Tensor]:
        """The tokens before the first block, and after every block."""

    def stage(self, key: str, block: int = 0) -> Tensor: ...

    def around_norm(self, role: str, seen: Seen) -> tuple[Tensor, Tensor]:
        """What norm2 or norm3 reads, and what it gives without its weight and bias."""

    def before_activation(self, block: int) -> Tensor: ...


Measure = Callable[[MeasuredPass, Seen, int], Tensor]
Measures = Mapping[str, Mapping[str, Measure]]  # by the key of a stage and the name of the array

_POINTS = 240  # of an activation's curve: enough to see its shape


def pixels(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
    """The image that the stages were computed from, in bytes."""
    return _colours(of.stage("image")[image])


def tiles(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
    """The patches in the same colours, where the image is no noise."""
    if not _has_equals(of.stage("image")[image]) or seen.student.shape != seen.right.shape:
        raise ValueError("noise tells nothing to the eye, and other shapes are no pictures")
    return _colours(seen.student[image])


def _has_equals(image: Tensor) -> bool:
    """Has it two equal numbers? Any image but noise has."""
    values = image.reshape(-1).sort().values
    return bool((values[1:] == values[:-1]).any())


def _colours(numbers: Tensor) -> Tensor:
    """Channels before rows and columns, with the darkest number at 0 and the brightest at 255."""
    batch = numbers.unsqueeze(0) if numbers.dim() == 3 else numbers
    shown = (undo(batch) if batch.shape[1] == 3 else batch).reshape(numbers.shape)
    low, high = shown.min(), shown.max()
    return (255 * (shown - low) / (high - low)).round().to(torch.uint8)


def grid(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
    """Height and width of the image, and the side of a patch."""
    sizes = of.sizes
    return torch.tensor([sizes.height, sizes.width, sizes.patch])


def sources(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
    """Where in the image each number was read: the patch's number, plus how far into it the pixel stands.

    That share counts row by row. NaN where the number is not in the image.
    """
    picture, numbers = of.stage("image")[image], seen.student[image]
    if _has_equals(picture):
        raise ValueError("numbers that pixels share do not tell where they are from")
    values, order = picture.reshape(-1).sort()
    near = torch.searchsorted(values, numbers.contiguous()).clamp(max=len(values) - 1)
    within = order[near] % picture[0].numel()  # whatever the channel
    side, columns = of.sizes.patch, picture.shape[-1]
    y, x = within // columns, within % columns
    patch = (y // side) * (columns // side) + x // side
    share = ((y % side) * side + x % side) / side**2
    return torch.where(values[near] == numbers, patch + share, torch.nan)


def similarity(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
    """The cosine of the angle between each two positions: what was added to S06."""
    positions = seen.student[image] - of.stage("tokens")[image]
    cosines: Tensor = cosine_similarity(positions[:, None], positions[None], dim=-1)
    return cosines


def norms(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
    """The length of each vector, such as that of every head's query for every token."""
    lengths: Tensor = torch.linalg.vector_norm(seen.student[image], dim=-1)
    return lengths


def row_sums(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
    """What a token's attention sums to, in each head."""
    return seen.student[image].sum(-1)


def class_attention(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
    """What the class token attends to, in each head, as a picture of the grid of patches."""
    row = of.class_row
    shares = seen.student[image][:, row]
    patches = shares[:, 1:] if row == 0 else shares[:, :-1]
    return torch.stack([one.reshape(of.sizes.grid) for one in patches])


def token_statistics(role: str) -> Measure:
    """Mean and standard deviation of each token before a norm, and after it without its weight and bias."""

    def measure(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
        before, after = of.around_norm(role, seen)
        both = torch.stack([before[image], after[image]])
        return torch.stack([both.mean(-1), both.std(-1, correction=0)], 1)

    return measure


def curve(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
    """Numbers before the activation, in order, what became of each, and what the equation makes of it."""
    before, order = of.before_activation(seen.step.block)[image].reshape(-1).sort()
    picked = torch.linspace(0, len(before) - 1, min(_POINTS, len(before))).long()
    after, right = (one[image].reshape(-1)[order] for one in (seen.student, seen.right))
    return torch.stack([before[picked], after[picked], right[picked]])


def stream(of: MeasuredPass, seen: Seen, image: int) -> Tensor:
    """The length of each token before the first block and after every block; the class token comes first."""
    tokens = torch.stack([one[image].norm(dim=-1) for one in of.stream])
    return tokens.roll(-of.class_row % tokens.shape[1], 1)


MEASURES: Measures = {
    "patches": {"pixels": pixels, "grid": grid, "sources": sources, "tiles": tiles},
    "flattened_patches": {"grid": grid, "sources": sources},
    "positioned_tokens": {"similarity": similarity},
    "query": {"norms": norms},
    "key": {"norms": norms},
    "value": {"norms": norms},
    "attention_probabilities": {
        "row_sums": row_sums,
        "class_attention": class_attention,
        "pixels": pixels,
    },
    "attention_context": {"norms": norms},
    "post_attention_norm": {"statistics": token_statistics("norm2")},
    "post_mlp_norm": {"statistics": token_statistics("norm3")},
    "mlp_hidden": {"curve": curve},
    **{key: {"stream": stream} for key in ("block_output", "second_block_output", "last_block_output")},
    "final_sequence": {"stream": stream},
}
