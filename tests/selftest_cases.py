"""The corpus as `vitcheck selftest` reads it: correct programs, and such with mistakes planted in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus import BASES
from mutants import MUTANTS, REFACTORINGS, Mutant, source

from vitcheck.checks.selftest.cases import Case, Planted


def cases() -> Sequence[Case]:
    """Every program of the corpus."""
    return [*_correct(), *(_case(one) for one in MUTANTS)]


def _correct() -> Iterator[Case]:
    for name, base in BASES.items():
        yield Case(name, base.family, {f"{name}.py": base.source().encode()})
    for one in REFACTORINGS:
        name = f"{one.base}: {one.title}"
        yield Case(name, BASES[one.base].family, {f"{one.base}.py": source(one).encode()})


def _case(one: Mutant) -> Case:
    planted = Planted(one.id, one.stage, one.accepted, one.kind)
    return Case(one.name, BASES[one.base].family, {f"{one.base}.py": source(one).encode()}, (planted,))
