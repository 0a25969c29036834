"""How many planted mistakes are recognised in one pass, and how many correct programs are blamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from common import show
from corpus import BASES
from mutants import MUTANTS, REFACTORINGS, Mutant
from tracing_helpers import sizes_of, trace_changed, trace_of

from vitcheck.checks.catalogue import mistakes
from vitcheck.checks.locating.locate import locate
from vitcheck.reference.sizes import Sizes
from vitcheck.reference.stages import STAGES
from vitcheck.submissions.trace import Trace

_COLUMNS = ("mistakes", "detected", "first stage right", "named first", "named at all")
_LABELS = {stage.key: stage.label for stage in STAGES}
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


def judge(mutant: Mutant, said: _Blame) -> tuple[bool, bool, bool, bool]:
    """What is right of the blame, in the order of the table's columns."""
    wanted = {mutant.id, *mutant.accepted}
    stages, ids = [stage for stage, _ in said], [id for _, id in said]
    return (
        bool(said),
        stages[:1] == [mutant.stage or "model"],
        bool(wanted & {*ids[:1]}),
        bool(wanted & {*ids}),
    )


def count(planted: Iterable[Mutant]) -> dict[str, Counter[str]]:
    """How many there are, and how many are right, by base and column; prints what is not fully right."""
    counts = {name: Counter[str]() for name in [*BASES, "all"]}
    for mutant in planted:
        said = blame(trace_changed(mutant), sizes_of(mutant.base), {mutant.id, *mutant.accepted})
        right = dict(zip(_COLUMNS, (True, *judge(mutant, said)), strict=True))
        for row in (mutant.base, "all"):
            counts[row].update(column for column, one in right.items() if one)
        if not all(right.values()):
            print(f"- {mutant.name} ({mutant.stage}): {', '.join(map(' '.join, said)) or 'nothing'}")
    return counts


def false_alarms() -> dict[str, _Blame]:
    """Blame on correct programs, by their names."""
    said = {name: blame(trace_of(name), sizes_of(name)) for name in BASES}
    said |= {one.title: blame(trace_changed(one), sizes_of(one.base)) for one in REFACTORINGS}
    return {name: found for name, found in said.items() if found}


def main() -> None:
    """Print what is not fully right, the table, and the false alarms."""
    visible = [one for one in MUTANTS if not (one.invisible or one.crashes)]
    counts = count(visible)
    show(
        ("base", *_COLUMNS), [(name, *map(row.__getitem__, _COLUMNS)) for name, row in counts.items() if row]
    )
    alarms = false_alarms()
    print(
        f"\nFalse alarms: {len(alarms)} on {len(BASES) + len(REFACTORINGS)} correct programs {alarms or ''}"
    )
    print(f"Left out: {len(MUTANTS) - len(visible)} mistakes that raise, or do not show in one pass")


if __name__ == "__main__":
    main()
