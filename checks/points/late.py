"""The late policy as a function of when work was due and when it was handed in. Imports no torch."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil

from ..assignment.asked_late import LatePolicy
from ..record.lateness import Lateness

_DAY = timedelta(days=1)


def lateness(
    policy: LatePolicy, submitted: datetime, *, extra_hours: int = 0, days_used: int = 0
) -> Lateness:
    """Say what the policy says; ``days_used`` of the budget went elsewhere.

    Within the grace, work is in time; beyond it, it is late by all that it is late.
    """
    due = policy.due + timedelta(hours=extra_hours)
    late = submitted - due
    if late <= timedelta(minutes=policy.grace_minutes):
        return Lateness(submitted=submitted, due=due, of=policy.of)
    days = ceil(late / _DAY)
    free = min(days, max(policy.budget_days - days_used, 0))
    return Lateness(
        submitted=submitted,
        due=due,
        minutes=ceil(late / timedelta(minutes=1)),
        days=days,
        free_days=free,
        percent=min(_percent(policy, late - free * _DAY), policy.at_most),
        of=policy.of,
    )


def _percent(policy: LatePolicy, late: timedelta) -> float:
    """Of what is left of the lateness when free days are off."""
    if late <= timedelta(0):
        return 0.0
    if policy.per_day is not None:
        return policy.per_day * ceil(late / _DAY)
    passed = [one.percent for one in policy.steps if late > timedelta(hours=one.hours)]
    return max(passed, default=0.0)
