"""Points in hundredths that add up, of which none tells what is shown later. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ..record.result import CheckResult, Outcome, Visibility

Settle = Callable[[Sequence[CheckResult]], "Settled"]


@dataclass(frozen=True)
class Settled:
    """Checks, what each is worth before skipped ones gave their points to the others, and notes of that."""

    checks: Sequence[CheckResult]
    points: dict[str, float]


def added_up(ended: Sequence[CheckResult], settle: Settle, whole: Settled) -> list[CheckResult]:
    """Give each check its points, in hundredths: their sums are the points of the ``whole``.

    ``settle`` says what checks are worth that ended otherwise. What one is worth hangs on those alone that
    students see no later than it: for these, all others count as passed. Where later ones change the sum,
    that stands at the first of them that did not pass.
    """
    found: dict[str, CheckResult] = {}
    possible = earned = 0
    moments = [one for one in Visibility if any(check.visibility is one for check in ended)]
    for until in moments:
        seen = [one if until.has(one.visibility) else as_passed(one) for one in ended]
        settled = whole if until is moments[-1] else settle(seen)
        rows = [one for one in _shared(settled) if until.has(one.visibility)]
        new = [one for one in rows if one.visibility is until]
        wanted = _hundredths(rows)
        for check, worth, got in _rounded(new, wanted[0] - possible, wanted[1] - earned):
            found[check.id] = check.model_copy(update={"points": worth / 100, "earned": got / 100})
        possible, earned = wanted
    return [found[one.id] for one in ended]


def as_passed(check: CheckResult) -> CheckResult:
    """Return the check as if nothing were wrong."""
    return check.model_copy(update={"outcome": Outcome.PASSED, "ended": None, "asked": True, "mistakes": []})


def _shared(settled: Settled) -> list[CheckResult]:
    """With the points of what is skipped at the others."""
    possible = sum(settled.points.values())
    asked = sum(settled.points[one.id] for one in settled.checks if one.outcome is not Outcome.SKIPPED)
    share = possible / asked if asked else 0.0
    return [_worth(one, settled.points[one.id], share) for one in settled.checks]


def _worth(check: CheckResult, points: float, share: float) -> CheckResult:
    if share:
        points = 0.0 if check.outcome is Outcome.SKIPPED else points * share
    earned = points if check.outcome is Outcome.PASSED else 0.0
    return check.model_copy(update={"points": points, "earned": earned})


def _hundredths(checks: Sequence[CheckResult]) -> tuple[int, int]:
    return round(100 * sum(one.points for one in checks)), round(100 * sum(one.earned for one in checks))


def _rounded(checks: Sequence[CheckResult], possible: int, earned: int) -> list[tuple[CheckResult, int, int]]:
    """Each with its hundredths, which add up to those given; what was earned is rounded by itself."""
    passed = [one for one in checks if one.outcome is Outcome.PASSED]
    others = [one for one in checks if one.outcome is not Outcome.PASSED]
    points = dict(zip([one.id for one in [*passed, *others]], _steps([*passed, *others]), strict=True))
    gains = {one.id: points[one.id] for one in passed}
    if passed and abs(earned - sum(gains.values())) <= 1:  # what rounding left over
        points[passed[0].id] += earned - sum(gains.values())
        gains[passed[0].id] = points[passed[0].id]
    bearer = (others or passed)[0].id
    points[bearer] += possible - sum(points.values())
    gains[bearer] = gains.get(bearer, 0) + earned - sum(gains.values())
    return [(one, points[one.id], gains.get(one.id, 0)) for one in checks]


def _steps(checks: Sequence[CheckResult]) -> list[int]:
    """The hundredths of each: of the first ones together they are as many as of their sum."""
    sums = [round(100 * total) for total in accumulate((one.points for one in checks), initial=0.0)]
    return [after - before for before, after in pairwise(sums)]
