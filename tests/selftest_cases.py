"""The corpus as `vitcheck selftest` reads it: correct programs, and such with mistakes planted in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus import BASES
from generated.program import Program
from generated.samples import sample
from generated.wrong import Wrong
from mutants import CROSSCUTTING, MUTANTS, PAIRS, PLANTED, REFACTORINGS, Mutant, source

from vitcheck.checks.selftest.cases import Case, Planted
from vitcheck.checks.selftest.generated import Generated
from vitcheck.checks.selftest.measuring import every

_PLANTED, _PAIRS, _REWRITES = 420, 40, 80  # of those that rules make: all of them would take an hour


_STAGES = [f"S{number:02}" for number in range(1, 27)]
_SIZES = {
    "image": ("height", "width"),
    "patch": ("patch",),
    "dim": ("embed_dim",),
    "heads": ("heads",),
    "mlp": ("mlp_dim",),
    "depth": ("depth",),
    "classes": ("classes",),
}


def generated(kind: str, seed: str, number: int) -> Generated:
    """The program of the generator with this kind, seed and number."""
    made = sample(kind, seed, number)
    sizes, wrong = asked_sizes(made.program), made.wrong
    if wrong is None:
        return Generated(made.name, kind, made.files, sizes)
    ids = tuple(one.id for one in wrong.mistakes)
    lines = tuple(slip.start[0] for slip in wrong.slips)
    return Generated(
        made.name, kind, made.files, sizes, wrong.differs == "raises", _faulty(wrong), ids, lines
    )


def asked_sizes(program: Program) -> dict[str, int]:
    """The sizes of a program, as an assignment file calls them."""
    return {asked: int(float(program.sizes[own])) for own, names in _SIZES.items() for asked in names}


def _faulty(wrong: Wrong) -> tuple[str, ...]:
    """Where the first fault may lie: after the last stage that is right, up to the first that is wrong."""
    if not wrong.stage:
        return ()
    first = _STAGES.index(wrong.after) + 1 if wrong.after else 0
    known = {one.stage for one in wrong.mistakes}
    return tuple(
        one for one in _STAGES if one in known or first <= _STAGES.index(one) <= _STAGES.index(wrong.stage)
    )


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
