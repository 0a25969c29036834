"""The rules of the assignment that are about the code, not about numbers."""

import pytest

from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.verdicts import CheckFailed, NotAsked
from vitcheck.checks.rules.breakpoints import Breakpoints
from vitcheck.checks.rules.library import taken_from_a_library
from vitcheck.checks.rules.parameter_count import check_parameter_count
from vitcheck.submissions.reading.code import prints


@pytest.fixture(scope="session")
def breakpoints(examination: Examination) -> Breakpoints:
    return Breakpoints(examination)


def test_breakpoint(examination: Examination, breakpoints: Breakpoints, label: str) -> None:
    """Is marked where a local variable holds it."""
    if not examination.assignment.rules.breakpoints:
        raise NotAsked("this assignment asks for no breakpoint marks")
    breakpoints.check(label)


def test_prints(examination: Examination) -> None:
    """Nothing is printed."""
    if not examination.assignment.rules.prints:
        raise NotAsked("this assignment allows print")
    found = prints(examination.source.files)
    if found:
        places = ", ".join(f"{frame.file}:{frame.line}" for frame in found[:5])
        raise CheckFailed(f"the assignment allows no print statements, and there are {len(found)}: {places}")
    if examination.prints_in_passes:
        raise CheckFailed(
            "the assignment allows no print statements, and something is written to the standard output while"
            " the model is built and run"
        )


def test_parameters(examination: Examination) -> None:
    """Are as many as the reference has."""
    check_parameter_count(examination)


def test_library_model(examination: Examination) -> None:
    """The model is no library's."""
    rule = examination.assignment.rules.library_model
    if rule.allow:
        raise NotAsked("this assignment allows a library's model")
    found = taken_from_a_library(examination.inventory(), examination.source.files)
    if found:
        reason = rule.reason or "The assignment asks for a model of your own."
        raise CheckFailed(f"{reason} Here {found}.")
