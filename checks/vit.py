"""The Vision Transformer as an architecture. Imports no torch."""

from __future__ import annotations

from ..reference.sizes import Sizes, preset
from ..reference.stages import ARCHITECTURES, LABEL_SETS
from .family import Family

VIT = Family(
    name="vit",
    blocks=ARCHITECTURES,
    sizes=Sizes,
    anatomy_at=f"{__package__}.vit_anatomy:VIT_ANATOMY",
    preset=preset,
    numberings=LABEL_SETS,
)
