"""Where a pass stops computing numbers: as one that stops with an exception, it is followed up to there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ...submissions.errors import StudentCodeFailed
from ...submissions.host.trace import Trace, Value
from .search.returned_scores import outputs_of, stand_ins


def until_no_number(trace: Trace, sizes: ModelSizes) -> Trace | None:
    """The pass up to the operation that gives the NaN or the infinity in its scores; its error says which.

    None where the scores are finite, or there are none. What is infinite on the way, as behind a mask, and
    what never comes to the scores, is as it should be.
    """
    scores = stand_ins(outputs_of(trace), sizes.output_shape) if trace.error is None else []
    if not scores or bool(torch.isfinite(scores[0].tensor).all()):
        return None
    spoiled: Callable[[Tensor], Tensor] = torch.isnan if bool(scores[0].tensor.isnan().any()) else torch.isinf
    made = (trace.records[number] for number in sorted(trace.ancestors(dict(trace.outputs)[scores[0].path])))
    first = next((one for one in made if _holds(trace, one, spoiled)), None)
    what, by = "NaN" if spoiled is torch.isnan else "Infinity", "" if first is None else _by(trace, first)
    told = f"The logits are NaN or infinite. {what} appears here first{by}."
    records = trace.records if first is None else trace.records[: first.number]
    error = StudentCodeFailed("FloatingPointError", told)
    return replace(trace, records=records, outputs=(), sights=(), error=error)


def _holds(trace: Trace, record: Value, spoiled: Callable[[Tensor], Tensor]) -> bool:
    return bool(spoiled(trace.tensor(record.reference)).any())


def _by(trace: Trace, record: Value) -> str:
    """The operation, its line, and what it was given."""
    line = "".join(f" in {one.file}, line {one.line}," for one in record.frames[:1])
    read = [trace.tensor(one) for one in record.inputs]
    given = "finite values" if all(bool(torch.isfinite(one).all()) for one in read) else "infinite ones"
    if "softmax" in record.op and read and bool((read[0] == -torch.inf).all(-1).any()):
        given = "a row in which every value is -infinity"
    return f": {record.op.partition('.')[0].strip('_')}{line} makes it from {given}"
