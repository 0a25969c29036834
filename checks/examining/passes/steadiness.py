"""Whether passes over one image run the same operations: if not, what one shows says nothing of the next."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from ....submissions.host.trace import Trace
from ..verdicts import CheckFailed
from .example import Example

_TEXT = (
    "From here on, the forward pass runs other operations each time, over the same image with the same "
    "weights, so that what one pass shows is not what the next one does. In eval mode it should do the same."
)


def parting(trace: Trace, again: Callable[[], Trace]) -> int | None:
    """The first record at which passes over the same image part, each as ``again`` traces it; None where not.

    A first pass may do more than all that follow: what depends on sizes alone, such as a table of positions,
    may be kept for the next.
    """
    second = again()
    if second.signature == trace.signature:
        return None
    if again().signature == second.signature:
        return None
    pairs = zip(trace.records, second.records)
    return sum(1 for _ in takewhile(lambda pair: pair[0].op == pair[1].op, pairs))


def demand_steady(parted: int | None, example: Example | None = None, key: str = "") -> None:
    """Raises CheckFailed for a stage that block 1 computes behind the record where passes part.

    Without a stage, for what is returned, which comes last.
    """
    if parted is None:
        return
    if example is None:
        raise CheckFailed(_TEXT)
    upto = takewhile(lambda step: step.key != key, example.walk.steps)
    first = next(step for step in example.walk.steps if step.key == key)
    if any(step.found is not None and step.found.record >= parted for step in (*upto, first)):
        raise CheckFailed(_TEXT, (), example.draw)


def unsteady() -> CheckFailed:
    """What a property says that compares recorded passes."""
    return CheckFailed("the forward pass runs other operations each time, over the same image")
