"""Labelled mistakes, each planted in a correct base, and rewrites that are no mistakes."""

from __future__ import annotations

from .attention import ATTENTION
from .behaviour import BEHAVIOUR
from .block import BLOCK
from .crosscutting import CROSSCUTTING
from .mutant import Mutant, Refactoring, source
from .readout import READOUT
from .refactorings import REFACTORINGS
from .tokens import TOKENS

MUTANTS: tuple[Mutant, ...] = TOKENS + ATTENTION + BLOCK + READOUT + BEHAVIOUR + CROSSCUTTING

__all__ = ["MUTANTS", "REFACTORINGS", "Mutant", "Refactoring", "source"]
