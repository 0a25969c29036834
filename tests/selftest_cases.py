"""The corpus as `vitcheck selftest` reads it: correct programs, and such with mistakes planted in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus import BASES
from mutants import CROSSCUTTING, MUTANTS, PAIRS, PLANTED, REFACTORINGS, Mutant, source

from vitcheck.checks.selftest.cases import Case, Planted
from vitcheck.checks.selftest.measuring import every

_PLANTED, _PAIRS, _REWRITES = 420, 40, 80  # of those that rules make: all of them would take an hour


def cases() -> Sequence[Case]:
    """Correct programs and rewrites of them, single mistakes, and pairs of mistakes."""
    planted = set(every(PLANTED, _PLANTED))
    chosen = [one for one in MUTANTS if one in planted or one not in set(PLANTED)]
    return [*_correct(), *(_single(one) for one in chosen), *_pairs()]


def _correct() -> Iterator[Case]:
    for name, base in BASES.items():
        yield Case(name, base.family, {f"{name}.py": base.source().encode()})
    for one in every(REFACTORINGS, _REWRITES):
        yield Case(one.name, BASES[one.base].family, {f"{one.base}.py": source(one).encode()})


def _single(one: Mutant) -> Case:
    files = {f"{one.base}.py": source(one).encode()}
    group = "cross-cutting" if one in CROSSCUTTING else BASES[one.base].family
    return Case(one.name, group, files, (_planted(one),))


def _pairs() -> Iterator[Case]:
    for one in every(PAIRS, _PAIRS):
        both = (_planted(one.first), _planted(one.second))
        yield Case(one.name, "two mistakes", {f"{one.base}.py": source(one).encode()}, both)


def _planted(one: Mutant) -> Planted:
    return Planted(one.id, one.stage, one.accepted, one.kind, one.elsewhere)
