"""Lines of a script may compute several things of the same tokens, as to compare them: each stands alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ...submissions.host.trace import Trace

_AXES = 2  # of what may be a result: what compares two of them is one number


def separate_results(trace: Trace) -> Sequence[Trace]:
    """The pass as far as it leads to each tensor that no other is made of, that of most lines first."""
    tensors = [one for _, one in trace.outputs if one.kind == "record" and len(one.shape) >= _AXES]
    ends = {one.number: trace.ancestors(one) for one in tensors}
    last = [one for one in ends if not any(one in made_of for other, made_of in ends.items() if other != one)]
    found = sorted(last, key=lambda one: _work(trace, ends[one]), reverse=True)
    return [_alone(trace, ends[one]) for one in found] or [trace]


def _work(trace: Trace, records: Collection[int]) -> tuple[int, int, int]:
    """The lines that compute it from what is given, and the records; of equal ones the latest."""
    computed = [trace.records[one] for one in records if trace.records[one].image]
    lines = {frame for one in computed for frame in one.frames}
    return len(lines), len(computed), max(records, default=0)


def _alone(trace: Trace, records: Collection[int]) -> Trace:
    """The same pass, in which nothing else depends on what is given, or is returned."""
    every = (replace(one, image=one.image and one.number in records) for one in trace.records)
    outputs = tuple((path, where) for path, where in trace.outputs if where.number in records)
    return replace(trace, records=tuple(every), outputs=outputs)
