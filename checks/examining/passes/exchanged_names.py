"""Queries and keys packed in one map: which is which say the student's variables alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from ....submissions.host.trace import Trace, VisibleLocal
from ...locating.comparing import equal
from ...locating.patience import USUAL
from ...locating.steps import Step
from ...locating.walk import Walk
from ...locating.wiring.naming import names_role
from ..stops import same_in_some_layout

_BY_NAME = "qkv-order-swapped"  # right by its numbers, and wrong if what is called a key is used as a query
EXCHANGED = "kq-transposed"  # what it is then
_OTHER = {"query": "key", "key": "query"}


def as_called(walk: Walk, watched: Callable[[], Trace], located: Callable[..., Walk]) -> Walk:
    """The walk, ``located`` with queries and keys as the variables call them where these are exchanged in it.

    ``watched`` gives the same pass with all variables.
    """
    if _BY_NAME not in walk.ids or not are_exchanged(walk, watched()):
        return walk
    called = {role: walk.context.stages[other, 1] for role, other in _OTHER.items()}

    def is_as_called(step: Step) -> bool:
        is_told = step.block == 1 and step.key in called
        return not is_told or equal(step.predict(walk.context), called[step.key])

    other = located(patience=replace(USUAL, admits=is_as_called))
    return other if other.unexplained is None else walk


def are_exchanged(walk: Walk, trace: Trace) -> bool:
    """Is what serves as the query called a key, or the key a query, and neither of them what it is?"""
    names = {role: _called(walk, trace, role) for role in _OTHER}
    return any(names.values()) and all(role not in found for role, found in names.items())


def _called(walk: Walk, trace: Trace, role: str) -> set[str]:
    """What variables are called, a query or a key, that hold what serves as ``role`` in the first block."""
    tensor = walk.context.stages[role, 1]
    held = {one: [seen for seen in trace.sights if names_role(seen.name, one)] for one in _OTHER}
    return {one for one, every in held.items() if any(_holds(trace, seen, tensor) for seen in every)}


def _holds(trace: Trace, seen: VisibleLocal, tensor: Tensor) -> bool:
    return same_in_some_layout(trace.tensor(seen.reference), tensor)
