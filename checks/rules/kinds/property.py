"""What holds of the whole model; each property is a function in ``rules/properties``."""

from __future__ import annotations

from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from ..declaring import each_of
from ..judging import demand_finished
from ..properties import BEGUN, OF_CODE, Property
from ..rulebook import rulebook_of


@each_of(
    Kind(
        id="property",
        group="properties",
        pays_for="properties of the whole model, such as images in a batch that do not affect each other",
        order=100,
        part="model",
        severity="major",
        finished=True,
    ),
    lambda family: rulebook_of(family).properties,
)
def check_property(examination: Examination, holds: Property) -> None:
    """Raises what the property raises, but for what the assignment accepts: that is not asked."""
    is_begun = holds in BEGUN and examination.walk.steps
    if holds not in OF_CODE and not is_begun:
        demand_finished(examination)
    try:
        holds(examination)
    except CheckFailed as failed:
        if failed.mistakes and not any(examination.counts(id) for id in failed.mistakes):
            raise NotAsked(f"the assignment accepts it: {failed.message}") from None
        raise
