"""Points by parts of the model and by stages. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..architecture.family import Family
from ..assignment.kinds import kind_of, kinds
from ..record.result import CheckResult
from .bearers import bearers


def points_of_stages(amounts: Mapping[str, float], checks: Sequence[CheckResult]) -> dict[str, float]:
    """What each stage is worth, by its label, on the check that bears it."""
    return {one.id: amounts.get(label, 0.0) for label, one in bearers(checks).items()}


def points_of_parts(
    amounts: Mapping[str, float], checks: Sequence[CheckResult], family: Family
) -> dict[str, float]:
    """Share the points of a part evenly among its stages, or among kinds of checks and then their checks."""
    part_of = {row.label: row.part for row in family.stages}
    members: dict[str, dict[str, list[str]]] = {}
    for label, one in bearers(checks).items():
        members.setdefault(part_of[label], {})[label] = [one.id]
    for check in checks:
        kind = kinds().get(kind_of(check.id))
        if kind is not None and kind.part and check.asked:
            members.setdefault(kind.part, {}).setdefault(kind.id, []).append(check.id)
    return {
        id: amounts.get(part, 0.0) / len(shares) / len(ids)
        for part, shares in members.items()
        for ids in shares.values()
        for id in ids
    }
