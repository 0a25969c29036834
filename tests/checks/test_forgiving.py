"""What could not be asked of a submission is forgiven within bounds, and never pays beyond them."""

from __future__ import annotations

import pytest

from vitcheck.checks.examining.verdicts import CheckOutcome
from vitcheck.checks.grading.forgiving import forgiven, unearned

_TEN = [f"property[{number}]" for number in range(10)]


def outcomes(skipped: int, *, asked: bool = True) -> list[CheckOutcome]:
    """Of ten checks, and one of another group."""
    ended = [
        CheckOutcome(id, None, "", "skipped" if number < skipped else "passed", "why", asked=asked)
        for number, id in enumerate(_TEN)
    ]
    return [*ended, CheckOutcome("prints", None, "", "passed")]


def settled(found: list[CheckOutcome], points: float = 1.0) -> list[str]:
    return [one.outcome for one in forgiven({one.id: points for one in found}, found)]


@pytest.mark.parametrize(("skipped", "lost"), [(0, 0), (2, 0), (3, 1), (10, 8)])
def test_others_stand_for_a_fifth_of_their_group(skipped: int, lost: int) -> None:
    assert settled(outcomes(skipped)).count("not_reached") == lost


def test_a_group_of_one_is_stood_for_by_nobody() -> None:
    assert settled([CheckOutcome("prints", None, "", "skipped")]) == ["not_reached"]


def test_what_the_assignment_does_not_ask_costs_nothing() -> None:
    assert "not_reached" not in settled(outcomes(10, asked=False))


def test_what_is_worth_nothing_costs_nothing() -> None:
    assert "not_reached" not in settled(outcomes(10), points=0.0)


def test_the_record_says_what_was_not_earned() -> None:
    found, points = outcomes(4), dict.fromkeys([*_TEN, "prints"], 1.25)
    (note,) = unearned(points, found, forgiven(points, found))
    assert note.kind == "unearned"
    assert "2 checks" in note.text
    assert "property" in note.text
    assert "2.50 points" in note.text
    assert not list(unearned(points, found, found))


def test_checks_that_end_with_an_error_are_told_with_what_they_cost() -> None:
    found = [CheckOutcome(id, None, "", "errored", "KeyError: 'x'") for id in _TEN[:3]]
    (note,) = unearned(dict.fromkeys(_TEN, 1.25), found, found)
    told = "The check property[0] and 2 more ended with an error: 3.75 points are not earned."
    assert (note.kind, note.text) == ("unearned", told)
