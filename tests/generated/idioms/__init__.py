"""The idioms, by what they write. Importing this registers them all."""

from . import (
    attention,
    blocks,
    embedding,
    encoders,
    heads,
    mlp,
    norms,
    packing,
    positions,
    scaling,
    surroundings,
)

__all__ = [
    "attention",
    "blocks",
    "embedding",
    "encoders",
    "heads",
    "mlp",
    "norms",
    "packing",
    "positions",
    "scaling",
    "surroundings",
]
