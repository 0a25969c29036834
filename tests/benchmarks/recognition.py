"""How many planted mistakes are recognised in one pass, and how many correct programs are blamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context

from common import show
from corpus import BASES
from mutants import MUTANTS, PAIRS, REFACTORINGS, Mutant, Pair
from tracing_helpers import sizes_of, trace_changed, trace_of

from vitcheck.checks.catalogue import mistakes
from vitcheck.checks.locating.locate import locate
from vitcheck.reference.sizes import Sizes
from vitcheck.reference.stages import STAGES
from vitcheck.submissions.trace import Trace

_COLUMNS = ("mistakes", "detected", "first stage right", "named first", "named at all", "nothing else")
_LABELS = {stage.key: stage.label for stage in STAGES}
_JOBS = 2  # passes at a time
_SEEN = [one for one in MUTANTS if not (one.invisible or one.crashes)]
_CORRECT = [*(one.name for one in REFACTORINGS), *BASES]
_Blame = list[tuple[str, str]]  # labels of stages and ids, in the order of stages; "?" is no known mistake


def blame(trace: Trace, sizes: Sizes, wanted: Collection[str] = ()) -> _Blame:
    """What is said against one pass: errors, those that are ``wanted``, and stages that nothing explains."""
    walk = locate(trace, sizes)
    findings = [one for step in walk.steps for one in step.findings]
    said = [(one.stage, one.id) for one in findings if one.id in wanted or mistakes()[one.id].kind == "error"]
    said += [(step.key, "?") for step in walk.steps if not step.explained and not step.findings]
    if walk.unexplained is not None:
        said.append((walk.unexplained[0], "?"))
    labelled = dict.fromkeys((_LABELS.get(key, key), id) for key, id in said)
    return sorted(labelled, key=lambda one: one[0])


def wanted(*planted: Mutant) -> set[str]:
    """The ids that are right answers."""
    return {id for one in planted for id in (one.id, *one.accepted)}


def judge(mutant: Mutant, said: _Blame) -> tuple[bool, ...]:
    """What is right of the blame, in the order of the table's columns."""
    right = wanted(mutant)
    stages, ids = [stage for stage, _ in said], [id for _, id in said]
    return (
        True,
        bool(said),
        bool({mutant.stage or "model", *mutant.elsewhere} & {*stages[:1]}),
        bool(right & {*ids[:1]}),
        bool(right & {*ids}),
        bool(said) and {*ids} <= right,
    )


def both_named(pair: Pair, said: _Blame) -> bool:
    """Whether each of the two mistakes is named."""
    ids = {id for _, id in said}
    return bool(wanted(pair.first) & ids) and bool(wanted(pair.second) & ids)


def blame_mutant(number: int) -> _Blame:
    mutant = _SEEN[number]
    return blame(trace_changed(mutant), sizes_of(mutant.base), wanted(mutant))


def blame_pair(number: int) -> _Blame:
    pair = PAIRS[number]
    return blame(trace_changed(pair), sizes_of(pair.base), wanted(pair.first, pair.second))


def blame_refactoring(number: int) -> _Blame:
    one = REFACTORINGS[number]
    return blame(trace_changed(one), sizes_of(one.base))


def blame_base(number: int) -> _Blame:
    name = list(BASES)[number]
    return blame(trace_of(name), sizes_of(name))


def words(said: _Blame) -> str:
    return ", ".join(map(" ".join, said)) or "nothing"


def judged_mutants(all_said: Iterable[_Blame]) -> Iterator[tuple[Mutant, tuple[bool, ...]]]:
    """What is right of each; prints what is not all right."""
    for mutant, said in zip(_SEEN, all_said, strict=True):
        right = judge(mutant, said)
        yield mutant, right
        if not all(right):
            print(f"- {mutant.name} ({mutant.stage}): {words(said)}", flush=True)


def judged_pairs(all_said: Iterable[_Blame]) -> Iterator[bool]:
    """Whether both of each are named; prints those of which not."""
    for pair, said in zip(PAIRS, all_said, strict=True):
        yield (right := both_named(pair, said))
        if not right:
            print(f"- {pair.name} ({pair.first.stage}, {pair.second.stage}): {words(said)}", flush=True)


def alarms(all_said: Iterable[_Blame]) -> Iterator[bool]:
    """Whether each correct program is blamed; prints the blame."""
    for name, said in zip(_CORRECT, all_said, strict=True):
        yield bool(said)
        if said:
            print(f"- {name}: {words(said)}", flush=True)


def table(title: str, said: Iterable[tuple[str, tuple[bool, ...]]]) -> None:
    """Count what is right, by the name of a row and over all."""
    counts: dict[str, Counter[str]] = {}
    for name, right in said:
        for row in (name, "all"):
            columns = (column for column, one in zip(_COLUMNS, right, strict=True) if one)
            counts.setdefault(row, Counter()).update(columns)
    counts["all"] = counts.pop("all")  # last
    show((title, *_COLUMNS), [(name, *map(row.__getitem__, _COLUMNS)) for name, row in counts.items()])


def main() -> None:
    """Print what is not fully right, the tables, and the false alarms."""
    with ProcessPoolExecutor(_JOBS, get_context("spawn")) as pool:
        mutants = pool.map(blame_mutant, range(len(_SEEN)), chunksize=8)
        pairs = pool.map(blame_pair, range(len(PAIRS)), chunksize=8)
        reworded = pool.map(blame_refactoring, range(len(REFACTORINGS)), chunksize=8)
        bases = pool.map(blame_base, range(len(BASES)))
        judged = list(judged_mutants(mutants))
        both = sum(judged_pairs(pairs))
        blamed = sum(alarms(chain(reworded, bases)))
    table("base", [(one.base, right) for one, right in judged])
    table("mistake", sorted((one.id, right) for one, right in judged))
    print(f"\nPairs with both named: {both} of {len(PAIRS)}")
    print(f"False alarms: {blamed} on {len(_CORRECT)} correct programs")
    print(f"Left out: {len(MUTANTS) - len(_SEEN)} mistakes that raise, or do not show in one pass")


if __name__ == "__main__":
    main()
