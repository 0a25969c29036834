"""What a line had at hand when it raised, such as views that are no records of their own."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ....submissions.host.trace import Reference
from ..context import Context
from ..search.nearness import same
from ..walk import Walk


def at_hand(context: Context) -> Sequence[tuple[str, Reference]]:
    """What the failing call was given, then what its line had in variables."""
    failed = context.trace.failed
    return () if failed is None else (*failed.inputs, *failed.locals)


def is_in_hand(walk: Walk, tensor: Tensor) -> bool:
    """Had the failing line this tensor? False where the pass did not fail."""
    for _, reference in at_hand(walk.context):
        if "float" in walk.trace.value(reference).dtype:
            other = walk.trace.tensor(reference)
            turned = other.mT if other.dim() == 2 else other
            if any(one.shape == tensor.shape and same(one, tensor) for one in (other, turned)):
                return True
    return False
