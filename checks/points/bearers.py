"""Which check bears the points of a stage: a stage is right as a whole or wrong. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..assignment.kinds import judges_stage
from ..record.result import CheckResult, Outcome

_WORST_FIRST = [
    *(Outcome.FAILED, Outcome.ERRORED, Outcome.TIMED_OUT, Outcome.MISSING, Outcome.NOT_REACHED),
    *(Outcome.PASSED, Outcome.SKIPPED),
]


def bearers(checks: Sequence[CheckResult]) -> Mapping[str, CheckResult]:
    """Return, by the label of each stage, the check of it that ended worst: the first of those that did."""
    found: dict[str, CheckResult] = {}
    for check in checks:
        if check.stage is None or not judges_stage(check.id):
            continue
        best = found.setdefault(check.stage, check)
        if _WORST_FIRST.index(check.outcome) < _WORST_FIRST.index(best.outcome):
            found[check.stage] = check
    return {label: one for label, one in found.items() if one.asked}
