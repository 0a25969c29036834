"""All rules, and what they make of the bases."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .attention_rules import ATTENTION_RULES
from .block_rules import BLOCK_RULES
from .mutant import Mutant
from .styles import STYLES


def planted(written: Collection[Mutant]) -> Iterator[Mutant]:
    """Every rule in every base that it fits, but for what is ``written`` already."""
    names = {one.name for one in written}
    for rule in (*ATTENTION_RULES, *BLOCK_RULES):
        for base in STYLES:
            mutant = rule.planted(base)
            if mutant is not None and mutant.name not in names:
                names.add(mutant.name)
                yield mutant
