"""Parent side: a recorded pass as a trace, or Refused where it makes no sense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from ..questions.recording import Recorded, Reference, Row
from .replies import reading
from .trace import Trace, Value
from .trace_limits import demand_measure

_MOST_CELLS = 1 << 48  # in all; more than any memory holds, and torch can still count it


def decode(recorded: Recorded) -> Trace:
    """The trace. Raises Refused where the pass contradicts itself, or is beyond all measure."""
    with reading():
        records, leaves = _values(recorded)
        trace = Trace(
            signature=recorded.signature,
            records=records,
            leaves=leaves,
            outputs=recorded.outputs,
            sights=recorded.sights,
            error=recorded.error,
            failed=recorded.failed,
            left_out=recorded.left_out,
        )
        for reference in trace.references():
            if len(reference.shape) != len(reference.strides):
                raise ValueError("a reference has more axes than strides, or fewer")
            trace.value(reference)
        demand_measure(trace)
        return trace


def _values(recorded: Recorded) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    counts = [row.count for row in (*recorded.records, *recorded.leaves)]
    announced = sum(counts)
    if not counts or announced > _MOST_CELLS:
        raise ValueError(f"{len(counts)} memories of {announced} numbers")
    cells = recorded.cells
    if cells is None:  # shapes can still be computed with
        cells = torch.empty(announced, dtype=torch.float64, device="meta")
    if cells.dtype != torch.float64 or tuple(cells.shape) != (announced,):
        raise ValueError(f"cells are {cells.dtype}{list(cells.shape)}, {announced} were announced")
    memories = torch.split(cells, counts)
    made = len(recorded.records)
    return (
        _of_kind("record", recorded.records, memories[:made]),
        _of_kind("leaf", recorded.leaves, memories[made:]),
    )


def _of_kind(
    kind: Literal["record", "leaf"], rows: Sequence[Row], memories: Sequence[Tensor]
) -> tuple[Value, ...]:
    return tuple(
        Value(
            number=number,
            op=row.op,
            reference=Reference(kind, number, row.offset, row.shape, row.strides),
            dtype=row.dtype,
            image=row.image,
            inputs=row.inputs,
            scalars=row.scalars,
            frames=row.frames,
            name=row.name,
            kind=row.kind,
            cells=cells,
        )
        for number, (row, cells) in enumerate(zip(rows, memories, strict=True))
    )
