"""How many planted mistakes are recognised in one pass, and how many correct programs are blamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from common import show
from corpus import BASES
from mutants import MUTANTS, REFACTORINGS, Mutant
from tracing_helpers import sizes_of, trace_changed, trace_of

from vitcheck.checks.catalogue import mistakes
from vitcheck.checks.locating.locate import locate
from vitcheck.reference.sizes import Sizes
from vitcheck.reference.stages import STAGES
from vitcheck.submissions.trace import Trace

_HEAD = ("base", "mistakes", "detected", "first stage right", "named first", "named at all")
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
    return sorted({(_LABELS.get(key, key), id): None for key, id in said}, key=lambda one: one[0])


def judge(mutant: Mutant, said: _Blame) -> tuple[bool, bool, bool, bool]:
    """What is right of the blame, in the order of the table's columns."""
    wanted = {mutant.id, *mutant.accepted}
    stages, ids = [stage for stage, _ in said], [id for _, id in said]
    return bool(said), stages[:1] == [mutant.stage], bool(wanted & {*ids[:1]}), bool(wanted & {*ids})


def false_alarms() -> dict[str, _Blame]:
    """Blame on correct programs, by their names."""
    said = {name: blame(trace_of(name), sizes_of(name)) for name in BASES}
    said |= {one.title: blame(trace_changed(one), sizes_of(one.base)) for one in REFACTORINGS}
    return {name: found for name, found in said.items() if found}


def main() -> None:
    """Print the table, what is not fully right in it, and the false alarms."""
    counts: dict[str, Counter[int]] = {name: Counter() for name in BASES}
    seen = [one for one in MUTANTS if not (one.invisible or one.crashes)]
    for mutant in seen:
        said = blame(trace_changed(mutant), sizes_of(mutant.base), {mutant.id, *mutant.accepted})
        right = (True, *judge(mutant, said))
        counts[mutant.base].update(column for column, one in enumerate(right) if one)
        if not all(right):
            print(f"- {mutant.name} ({mutant.stage}): {', '.join(map(' '.join, said)) or 'nothing'}")
    used = {base: count for base, count in counts.items() if count}
    show(
        _HEAD,
        [
            (name, *map(count.__getitem__, range(5)))
            for name, count in [*used.items(), ("all", sum(counts.values(), Counter()))]
        ],
    )
    alarms = false_alarms()
    print(
        f"\nFalse alarms on {len(BASES)} correct programs and {len(REFACTORINGS)} rewrites: {len(alarms)} {alarms or ''}"
    )
    print(
        f"Left out: {len(MUTANTS) - len(seen)} of {len(MUTANTS)} mistakes, which leave one pass as it is or raise in it."
    )


if __name__ == "__main__":
    main()
