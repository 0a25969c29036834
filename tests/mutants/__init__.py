"""Labelled mistakes, each planted in a correct base, and rewrites that are no mistakes."""

from __future__ import annotations

from .attention import ATTENTION
from .behaviour import BEHAVIOUR
from .block import BLOCK
from .crosscutting import CROSSCUTTING
from .more_styles import MORE_STYLES
from .mutant import Mutant, Pair, Refactoring, source
from .pairs import paired
from .readout import READOUT
from .refactorings import REWRITTEN
from .rewordings import reworded
from .rules import planted
from .styles import STYLES
from .tokens import TOKENS

WRITTEN: tuple[Mutant, ...] = TOKENS + ATTENTION + BLOCK + READOUT + BEHAVIOUR + MORE_STYLES
PLANTED: tuple[Mutant, ...] = tuple(planted(WRITTEN))
MUTANTS = WRITTEN + PLANTED + CROSSCUTTING
PAIRS = paired(WRITTEN + PLANTED)
REFACTORINGS = REWRITTEN + tuple(reworded(REWRITTEN))

__all__ = [
    "CROSSCUTTING",
    "MUTANTS",
    "PAIRS",
    "PLANTED",
    "REFACTORINGS",
    "STYLES",
    "WRITTEN",
    "Mutant",
    "Pair",
    "Refactoring",
    "source",
]
