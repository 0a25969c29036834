"""Parent side: how much one pass may hold. It was computed by others, and is looked up again and again."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ..errors import Refused
from ..limits import FrameLimits
from .trace import Trace

_TENSORS = 40_000  # loops over all tokens of all images make some thousands
_SHOWN = FrameLimits.tensors  # returned, and seen at marks: as many as a plain pass may return
_WINDOW = 1 << 22  # numbers, where no tensor is larger: axes that repeat cost the child nothing


def demand_measure(trace: Trace) -> None:
    """Raises Refused, with what there is too much of, for a pass that nobody could look at."""
    values = (*trace.records, *trace.leaves)
    _demand(len(values), _TENSORS, "tensors were computed or read in one pass")
    _demand(len(trace.outputs), _SHOWN, "tensors were returned")
    _demand(len(trace.sights), _SHOWN, "variables were seen at marks")
    _demand(
        max(map(len, _names(trace)), default=0), FrameLimits.name_characters, "characters are in one name"
    )
    window = max(_WINDOW, *(value.cells.numel() for value in values))
    largest = max(map(prod, {one.shape for one in trace.references()}), default=0)
    _demand(largest, window, "numbers are in one view, which repeats them")


def _demand(count: int, most: int, what: str) -> None:
    if count > most:
        raise Refused(f"{count} {what}; at most {most} are looked at")


def _names(trace: Trace) -> Iterator[str]:
    yield from (leaf.name for leaf in trace.leaves)
    yield from (path for path, _ in trace.outputs)
    yield from (sight.name for sight in trace.sights)
