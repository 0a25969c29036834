"""The corpus as `vitcheck selftest` reads it: correct programs, and such with mistakes planted in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from corpus import BASES
from generated.faults import faults
from generated.mistakes import MISTAKES
from generated.program import Program
from generated.samples import Sample, sample
from generated.statements import statements
from generated.wrong import Wrong
from mutants import CROSSCUTTING, MUTANTS, PAIRS, PLANTED, REFACTORINGS, Mutant, source

from vitcheck.checks.tools.selftest.cases import Case, Planted
from vitcheck.checks.tools.selftest.corpus_counts import every
from vitcheck.checks.tools.selftest.generated import Generated

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


# a part alone is asked for as a component; an embedding with its token and positions is none
_COMPONENTS = {"attention": "attention", "mlp": "mlp"}


def generated(kind: str, seed: str, number: int) -> Generated:
    """The program of the generator with this kind, seed and number."""
    made = sample(kind, seed_of(kind, seed, number), number)
    found = generated_of(replace(made, name=f"{kind}_{seed}_{number:04}"), kind)
    # nothing is asked of every second right one: what costs points there does where students begin; one block
    # for all is right only where an assignment allows it
    nothing_asked = kind == "right" and number % 2 and not made.program.facts.shared
    return replace(found, sizes={}) if nothing_asked else found


def seed_of(kind: str, seed: str, number: int) -> str:
    """Of a part the first further seed that gives one that can be asked for alone."""
    seeds = (f"{seed} {again}" if again else seed for again in count())
    asked = (one for one in seeds if sample(kind, one, number).program.facts.part in _COMPONENTS)
    return next(asked) if kind == "part" else seed


def generated_of(made: Sample, kind: str) -> Generated:
    """What is known of a program, as it is counted."""
    right = Generated(
        made.name,
        kind,
        made.files,
        asked_sizes(made.program),
        part=_COMPONENTS.get(made.program.facts.part, ""),
        has=tuple(sorted({stage for span in made.program.spans for stage in span.stages})),
    )
    return right if made.wrong is None else replace(right, **_mistaken(made.wrong, kind))


def _mistaken(wrong: Wrong, kind: str) -> dict[str, Any]:
    ids = tuple(one.id for one in wrong.mistakes)
    whole = kind == "wrong"  # else the lines are cut, and what is not written yet is at fault, too
    return {
        "differs": wrong.differs,
        "stages": _first_faulty(wrong),
        "faulty": _faulty(wrong) if whole else (),
        "ids": ids,
        # a form of another mistake may be one whose equations the generator does not have
        "untrue": tuple({one.id for one in MISTAKES} - {*ids}) if ids else (),
        "lines": statements(wrong) if whole else (),
    }


def asked_sizes(program: Program) -> dict[str, int]:
    """The sizes of a program, as an assignment file calls them."""
    return {asked: int(float(program.sizes[own])) for own, names in _SIZES.items() for asked in names}


def _first_faulty(wrong: Wrong) -> tuple[str, ...]:
    """Where the first fault may lie: after the last stage that is right, up to the first that is wrong."""
    if not wrong.stage:
        return ()
    known = {one.stage for one in wrong.mistakes}
    return tuple(one for one in _STAGES if one in known or one in _between(wrong.after, wrong.stage))


def _between(after: str, stage: str) -> list[str]:
    first = _STAGES.index(after) + 1 if after else 0
    return _STAGES[first : _STAGES.index(stage) + 1]


def _faulty(wrong: Wrong) -> tuple[str, ...]:
    """Where its faults may lie: at stages that are wrong by themselves, or at unmarked ones just before."""
    first, found = _first_faulty(wrong), faults(wrong) if wrong.stage else None
    if found is None:
        return ()
    marked = sorted({stage for span in wrong.program.spans for stage in span.stages})
    before = {one: max((other for other in marked if other < one), default="") for one in found}
    near = {label for one in found for label in _between(before[one], one)}
    return tuple(one for one in _STAGES if one in near or one in first)


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
