"""The idioms, by what they write. Importing this registers them all."""

from . import (
    attention,
    blocks,
    embedding,
    encoders,
    functional,
    heads,
    mlp,
    norms,
    packing,
    positions,
    scaling,
    sizes,
    surroundings,
)

__all__ = [
    "attention",
    "blocks",
    "embedding",
    "encoders",
    "functional",
    "heads",
    "mlp",
    "norms",
    "packing",
    "positions",
    "scaling",
    "sizes",
    "surroundings",
]
