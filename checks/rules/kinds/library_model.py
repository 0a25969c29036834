"""The rule that the model is the student's own, and no library's."""

from __future__ import annotations

from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from ..declaring import once
from ..model_origin import taken_from_a_library


@once(
    Kind(
        id="library_model",
        group="library_model",
        pays_for="a model of your own, not a library's",
        order=80,
        part="model",
        severity="critical",
    )
)
def check_library_model(examination: Examination) -> None:
    """The model is your own code, not a library's.

    Else: The model is a library's, not your own code
    """
    rule = examination.assignment.rules.library_model
    if rule.allow:
        raise NotAsked("this assignment allows a library's model")
    found = taken_from_a_library(examination.inventory(), examination.source.files)
    if found:
        reason = rule.reason or "The assignment asks for a model of your own."
        raise CheckFailed(f"{reason} Here {found}.")
