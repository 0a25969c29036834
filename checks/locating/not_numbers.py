"""Where a pass stops computing numbers: what follows is not to be compared with anything."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ...submissions.trace import Reference, Trace, Value
from ..scores import outputs_of, stand_ins
from .walk import Step, Walk

_NO_MEMORY = ("empty", "new_empty")  # what is not written yet holds anything


def stop_at_no_number(walk: Walk) -> bool:
    """Ends the walk before the stage in which NaN or infinity arises that reaches the scores.

    False where the scores are finite, or there are none. What is infinite on the way, as behind a mask, and
    what never comes to the scores, is as it should be.
    """
    scores = stand_ins(outputs_of(walk.trace), walk.sizes.output_shape)
    if not scores or bool(torch.isfinite(scores[0].tensor).all()):
        return False
    test: Callable[[Tensor], Tensor] = torch.isnan if bool(scores[0].tensor.isnan().any()) else torch.isinf
    where = dict(walk.trace.outputs)[scores[0].path]
    first = next((one for one in _ancestors(walk.trace, where) if _holds(walk.trace, one, test)), None)
    kept = _before(walk, len(walk.trace.records) if first is None else first.number, test)
    walk.unexplained = _next(walk, kept)
    walk.steps = walk.steps[:kept]
    walk.lost = _told(walk.trace, first, "NaN" if test is torch.isnan else "infinity")
    return True


def _ancestors(trace: Trace, where: Reference) -> list[Value]:
    """The records that the tensor is made from, and its own, in order."""
    todo, found = [where], set()
    while todo:
        one = todo.pop()
        if one.kind == "record" and one.number not in found:
            found.add(one.number)
            todo += trace.records[one.number].inputs
    return [trace.records[number] for number in sorted(found)]


def _holds(trace: Trace, record: Value, test: Callable[[Tensor], Tensor]) -> bool:
    named = record.op.partition(".")[0]
    return named not in _NO_MEMORY and bool(test(trace.tensor(record.reference)).any())


def _before(walk: Walk, record: int, test: Callable[[Tensor], Tensor]) -> int:
    """How many steps were settled of numbers, in records before that one."""
    for position, step in enumerate(walk.steps):
        late = step.found is not None and step.found.record >= record
        if late or bool(test(walk.context.stages[step.key, step.block]).any()):
            return _with_evidence(walk.steps, position)
    return len(walk.steps)


def _with_evidence(steps: list[Step], count: int) -> int:
    """What is implied by a step that falls is not known either."""
    while count and steps[count - 1].found is None and steps[count - 1].explained:
        count -= 1
    return count


def _next(walk: Walk, kept: int) -> tuple[str, int]:
    if kept < len(walk.steps):
        return walk.steps[kept].key, walk.steps[kept].block
    if walk.unexplained is not None:
        return walk.unexplained
    keys = [one.key for one in walk.family.stages]
    last = walk.steps[-1] if walk.steps else None
    place = 0 if last is None else keys.index(last.key)
    return keys[min(place + 1, len(keys) - 1)], 0 if last is None else last.block


def _told(trace: Trace, record: Value | None, what: str) -> str:
    text = f"The scores are no finite numbers. {what} arises here"
    if record is None:
        return f"{text}."
    lines = "".join(f" in {one.file}, line {one.line}" for one in record.frames[:1])
    read = [trace.tensor(one) for one in record.inputs]
    return f"{text} first: {record.op.partition('.')[0].strip('_')}{lines} gives it{_why(record, read)}."


def _why(record: Value, read: list[Tensor]) -> str:
    """What it was given."""
    if "softmax" in record.op and read and bool((read[0] == -torch.inf).all(-1).any()):
        return " for a row in which every number is -infinity"
    if any(not bool(torch.isfinite(one).all()) for one in read):
        return " from numbers that are infinite"
    return " from finite numbers"
