"""The Vision Transformer as an architecture. Imports no torch."""

from __future__ import annotations

from ...reference.sizes import Sizes, preset
from ...reference.stages import ARCHITECTURES, LABEL_SETS
from ..architecture.family import Family
from .vit_sampling import VIT_SAMPLING

VIT = Family(
    name="vit",
    blocks=ARCHITECTURES,
    sizes=Sizes,
    sampling=VIT_SAMPLING,
    anatomy_at="vitcheck.checks.vit.vit_anatomy:VIT_ANATOMY",
    rules_at="vitcheck.checks.vit.vit_rules:VIT_RULES",
    preset=preset,
    numberings=LABEL_SETS,
)
