"""A stage against what always holds of it, whatever the weights."""

from __future__ import annotations

from dataclasses import replace

from ....reference.stages import Stage
from ...architecture.family import Family
from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed
from ..declaring import each_stage
from ..judging import demand
from ..rulebook import rulebook_of


def _with_one(family: Family) -> list[Stage]:
    having = rulebook_of(family).invariants
    return [one for one in family.stages[1:] if one.key in having]


@each_stage(
    Kind(
        id="invariant",
        group="invariants",
        pays_for="invariants of a stage, such as rows that sum to 1",
        order=30,
        severity="major",
        judges_stage=True,
    ),
    _with_one,
)
def check_invariant(examination: Examination, key: str) -> None:
    """Satisfies its invariants (for example: rows sum to 1).

    Else: breaks what always holds of it
    """
    row = examination.family.stage(key)
    demand(examination, row)
    faults, holds = examination.faults(key), rulebook_of(examination.family).invariants[key]
    if not faults and examination.accepted_at(key):
        return
    parted = examination.failed_before(key) is not None  # what comes from there is said there
    for example in examination.examples:
        for seen in example.all(key):
            if (
                seen.step.findings and not faults
            ):  # of another stage, or a variant that the assignment accepts
                continue
            broken = holds(example, seen)
            if broken and not (parted and holds(example, replace(seen, student=seen.right))):
                block = f" (block {seen.step.block})" if seen.step.block else ""
                raise CheckFailed(f"{broken[0].upper()}{broken[1:]}{block}.", faults, example.draw)
