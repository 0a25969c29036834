"""What holds of the whole model; each property is a function in ``rules/properties``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...architecture.family import Family
from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from ..check import Check
from ..properties import Property
from ..rulebook import rulebook_of

KIND = Kind(
    id="property",
    title="",
    group="properties",
    pays_for="what holds of the whole model, such as images in a batch that do not see each other",
    order=100,
)


def checks(family: Family) -> Iterator[Check]:
    for name, holds in rulebook_of(family).properties.items():
        title = (holds.__doc__ or "").strip()
        yield Check(f"{KIND.id}[{name}]", None, title, partial(check_property, holds=holds))


def check_property(examination: Examination, holds: Property) -> None:
    """Raises what the property raises, but for what the assignment accepts: that is not asked."""
    try:
        holds(examination)
    except CheckFailed as failed:
        if failed.mistakes and not any(examination.counts(id) for id in failed.mistakes):
            raise NotAsked(f"the assignment accepts it: {failed.message}") from None
        raise
