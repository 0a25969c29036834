"""The rule that the model is the student's own, and no library's."""

from __future__ import annotations

from collections.abc import Iterator

from ...architecture.family import Family
from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from ..check import Check, once
from ..library import taken_from_a_library

KIND = Kind(
    id="library_model",
    title="The model is no library's.",
    group="library_model",
    pays_for="a model of your own, not a library's",
    order=80,
)


def checks(family: Family) -> Iterator[Check]:
    return once(KIND, check_library_model)


def check_library_model(examination: Examination) -> None:
    """Neither the model nor a part of it is a library's, where the assignment says so."""
    rule = examination.assignment.rules.library_model
    if rule.allow:
        raise NotAsked("this assignment allows a library's model")
    found = taken_from_a_library(examination.inventory(), examination.source.files)
    if found:
        reason = rule.reason or "The assignment asks for a model of your own."
        raise CheckFailed(f"{reason} Here {found}.")
