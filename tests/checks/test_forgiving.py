"""What could not be asked of a submission is forgiven within bounds, and never pays beyond them."""

from __future__ import annotations

import pytest

from vitcheck.checks.points.forgiving import as_ended, forgiven, unearned
from vitcheck.checks.record.result import CheckResult, Outcome

_TEN = [f"property[{number}]" for number in range(10)]


def check(id: str, outcome: Outcome, message: str = "why", *, asked: bool = True) -> CheckResult:
    return CheckResult(
        id=id, stage=None, title="", outcome=outcome, asked=asked, points=0, earned=0, message=message
    )


def checks(skipped: int, *, asked: bool = True) -> list[CheckResult]:
    """Of ten checks, and one of another group."""
    ended = [
        check(id, Outcome.SKIPPED if number < skipped else Outcome.PASSED, asked=asked)
        for number, id in enumerate(_TEN)
    ]
    return [*ended, check("prints", Outcome.PASSED)]


def settled(found: list[CheckResult], points: float = 1.0) -> list[str]:
    return [one.outcome.value for one in forgiven({one.id: points for one in found}, found)]


@pytest.mark.parametrize(("skipped", "lost"), [(0, 0), (2, 0), (3, 1), (10, 8)])
def test_others_stand_for_a_fifth_of_their_group(skipped: int, lost: int) -> None:
    assert settled(checks(skipped)).count("not_reached") == lost


def test_a_group_of_one_is_stood_for_by_nobody() -> None:
    assert settled([check("prints", Outcome.SKIPPED)]) == ["not_reached"]


def test_what_the_assignment_does_not_ask_costs_nothing() -> None:
    assert "not_reached" not in settled(checks(10, asked=False))


def test_what_is_worth_nothing_costs_nothing() -> None:
    assert "not_reached" not in settled(checks(10), points=0.0)


def test_the_record_says_what_was_not_earned() -> None:
    found, points = checks(4), dict.fromkeys([*_TEN, "prints"], 1.25)
    (note,) = unearned(points, forgiven(points, found))
    assert note.kind == "unearned"
    assert "2 checks" in note.text
    assert "property" in note.text
    assert "2.50 points" in note.text
    assert not list(unearned(points, found))


def test_what_was_made_of_a_check_can_be_taken_back() -> None:
    found = checks(4)
    assert [as_ended(one) for one in forgiven(dict.fromkeys([*_TEN, "prints"], 1.0), found)] == found


def test_checks_that_end_with_an_error_are_told_with_what_they_cost() -> None:
    found = [check(id, Outcome.ERRORED, "KeyError: 'x'") for id in _TEN[:3]]
    (note,) = unearned(dict.fromkeys(_TEN, 1.25), found)
    told = "The check property[0] and 2 more ended with an error: 3.75 points are not earned."
    assert (note.kind, note.text) == ("unearned", told)
