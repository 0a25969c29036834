"""How much of a pass that ends for want of code an explanation accounts for."""

from __future__ import annotations

from ...submissions.host.trace import Trace
from .walk import Walk


def accounted(walk: Walk) -> int:
    """How many of the tensors that depend on the image are stages, or went into one."""
    made_of = walk.once("made of", lambda: _made_of(walk.trace))
    records = {place.record for step in walk.steps if step.found for place in step.found.places}
    records |= {one.began for one in walk.made.values()}
    all_of_them = 0
    for record in records:
        all_of_them |= made_of[record]
    return all_of_them.bit_count()


def to_account_for(walk: Walk) -> int:
    """How many there are."""
    return sum(one.image for one in walk.trace.records)


def _made_of(trace: Trace) -> list[int]:
    """For each record a bit for every one that it is made of, and for itself."""
    found: list[int] = []
    for one in trace.records:
        bits = int(one.image) << one.number
        for read in one.inputs:
            bits |= found[read.number] if read.kind == "record" else 0
        found.append(bits)
    return found
