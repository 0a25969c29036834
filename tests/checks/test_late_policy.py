"""The late policy: what it says of a time, which is a function of nothing else."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitcheck.checks.assignment.asked_late import LatePolicy
from vitcheck.checks.assignment.assignment import AssignmentError, assignment_text, parse_assignment
from vitcheck.checks.points.late import lateness
from vitcheck.checks.points.scoring import judging_digest
from vitcheck.checks.record.lateness import Lateness

DUE = datetime(2026, 11, 20, 23, 59, tzinfo=timezone(timedelta(hours=1)))
STEPS = [{"hours": 0, "percent": 5}, {"hours": 24, "percent": 20}, {"hours": 72, "percent": 100}]


def late(hours: float, policy: dict[str, Any], **known: int) -> Lateness:
    asked = LatePolicy.model_validate({"due": DUE, **policy})
    return lateness(asked, DUE + timedelta(hours=hours), **known)


@pytest.mark.parametrize(
    ("hours", "policy", "known", "days", "free", "percent"),
    [
        (-1, {"per_day": 10}, {}, 0, 0, 0),
        (0.25, {"per_day": 10, "grace_minutes": 15}, {}, 0, 0, 0),
        (0.26, {"per_day": 10, "grace_minutes": 15}, {}, 1, 0, 10),
        (24, {"per_day": 10}, {}, 1, 0, 10),
        (24.1, {"per_day": 10}, {}, 2, 0, 20),
        (240, {"per_day": 10, "at_most": 50}, {}, 10, 0, 50),
        (1, {"steps": STEPS}, {}, 1, 0, 5),
        (25, {"steps": STEPS}, {}, 2, 0, 20),
        (100, {"steps": STEPS}, {}, 5, 0, 100),
        (30, {"per_day": 10, "budget_days": 3}, {}, 2, 2, 0),
        (30, {"per_day": 10, "budget_days": 3}, {"days_used": 2}, 2, 1, 10),
        (30, {"per_day": 10, "budget_days": 3}, {"days_used": 9}, 2, 0, 20),
        (30, {"per_day": 10}, {"extra_hours": 48}, 0, 0, 0),
        (30, {"per_day": 10}, {"extra_hours": 24}, 1, 0, 10),
        (30, {}, {}, 2, 0, 0),  # late, and nothing is said of it
    ],
)
def test_what_the_policy_takes(
    hours: float, policy: dict[str, Any], known: dict[str, int], days: int, free: int, percent: float
) -> None:
    found = late(hours, policy, **known)
    assert (found.days, found.free_days, found.percent) == (days, free, percent)


@given(
    st.floats(0, 500),
    st.floats(0, 500),
    st.integers(0, 5),
    st.sampled_from([{"per_day": 7}, {"steps": STEPS}]),
)
def test_later_work_never_loses_less_and_nobody_more_than_all(
    first: float, then: float, budget: int, policy: dict[str, Any]
) -> None:
    earlier, later = (late(one, {**policy, "budget_days": budget}) for one in sorted([first, then]))
    assert 0 <= earlier.percent <= later.percent <= 100
    assert later.points(100, 30) <= 30


def test_of_what_is_earned_or_possible() -> None:
    assert late(1, {"per_day": 10}).points(possible=100, earned=50) == 10
    assert late(1, {"per_day": 10, "of": "earned"}).points(possible=100, earned=50) == 5


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("due = 2026-11-20T23:59:00", "late.due"),  # without a zone
        ("due = 2026-11-20T23:59:00Z\nper_day = 10\nsteps = [{hours = 1, percent = 2}]", "give one of both"),
        ("due = 2026-11-20T23:59:00Z\ngrace = 10", "there is due, grace_minutes"),
    ],
)
def test_a_policy_that_cannot_be_is_told(table: str, message: str) -> None:
    with pytest.raises(AssignmentError, match=message):
        parse_assignment(f"{assignment_text('vit')}\n[late]\n{table}\n", "week.toml")


def test_no_verdict_hangs_on_it() -> None:
    text = assignment_text("vit")
    asked = parse_assignment(f"{text}\n[late]\ndue = 2026-11-20T23:59:00+01:00\nper_day = 10\n", "week.toml")
    assert asked.late is not None
    assert asked.late.due == DUE
    assert judging_digest(asked) == judging_digest(parse_assignment(text, "vit.toml"))
