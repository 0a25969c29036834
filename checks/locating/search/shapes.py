"""Shapes as messages write them, and the small sizes at which models are tried."""

from __future__ import annotations

from collections.abc import Sequence

from ....reference.model_sizes import ModelSizes


def shaped(shape: Sequence[int]) -> str:
    """The sizes with times signs between them."""
    return " × ".join(map(str, shape)) or "a single number"


def labelled(axes: str, shape: Sequence[int]) -> str:
    """The same with the letters of the stage table before the sizes; an axis that is always 1 has none."""
    sized = zip(axes.split(), shape)
    return " × ".join(str(size) if letter == "1" else f"{letter} {size}" for letter, size in sized)


def at_test_sizes(sizes: ModelSizes) -> str:
    """What stands beside a shape that is not at the assignment's size: students know their own alone."""
    return (
        f"at the test sizes (batch {sizes.batch}, {sizes.tokens} tokens, width {sizes.embed_dim},"
        f" {sizes.heads} heads)"
    )
