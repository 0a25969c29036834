"""The rule that nothing is printed, neither by a statement nor while the model runs."""

from __future__ import annotations

from ....submissions.reading.code import prints
from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from ..declaring import once


@once(
    Kind(
        id="prints",
        group="prints",
        pays_for="no print statements",
        order=60,
        part="style",
        severity="minor",
    )
)
def check_prints(examination: Examination) -> None:
    """There are no print statements.

    Else: The code prints
    """
    if not examination.assignment.rules.prints:
        raise NotAsked("this assignment allows print")
    found = prints(examination.source.files)
    if found:
        places = ", ".join(f"{frame.file}:{frame.line}" for frame in found[:5])
        raise CheckFailed(
            f"the assignment does not allow print statements, but there are {len(found)}: {places}"
        )
    if _prints_in_passes(examination):
        raise CheckFailed(
            "the assignment does not allow print statements, but something is printed while the model is"
            " built and run"
        )


def _prints_in_passes(examination: Examination) -> bool:
    """Was anything printed while the model was traced? A script may call what prints for it."""
    session = examination.session
    return bool(examination.examples) and not session.is_script and session.child.prints_in_passes
