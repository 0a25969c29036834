"""Parent side: a recorded pass as a trace, or Refused where it makes no sense."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from math import prod
from typing import Literal

import torch
from torch import Tensor

from ..errors import Refused
from ..limits import FrameLimits
from ..questions.recording import PassOutcome, Recorded, Reference, TensorRow
from .replies import contradictions_refused
from .trace import Trace, Value

_MOST_CELLS = 1 << 48  # in all; more than any memory holds, and torch can still count it
_TENSORS = 40_000  # loops over all tokens of all images make some thousands
_SHOWN = FrameLimits.tensors  # returned, and seen at marks: as many as a plain pass may return
_WINDOW = 1 << 22  # numbers, where no tensor is larger: axes that repeat cost the child nothing


def decode(recorded: Recorded) -> Trace:
    """The trace. Raises Refused where it contradicts itself, or has no bounds."""
    with contradictions_refused():
        records, leaves = _values(recorded)
        outcome = {one.name: getattr(recorded, one.name) for one in fields(PassOutcome)}
        trace = Trace(records=records, leaves=leaves, **outcome)
        for reference in trace.references():
            if len(reference.shape) != len(reference.strides):
                raise ValueError("a reference has more axes than strides, or fewer")
            trace.value(reference)
        for record in records:
            if any(one.kind == "record" and one.number >= record.number for one in record.inputs):
                raise ValueError("a tensor is made from one that comes later")
        _demand_measure(trace)
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
    kind: Literal["record", "leaf"], rows: Sequence[TensorRow], memories: Sequence[Tensor]
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
            called=row.called,
            cells=cells,
            made_at=row.made_at,
            views=row.views,
        )
        for number, (row, cells) in enumerate(zip(rows, memories, strict=True))
    )


def _demand_measure(trace: Trace) -> None:
    """Raises Refused, with what there is too much of, for a pass that nobody could look at."""
    values = (*trace.records, *trace.leaves)
    _demand(len(values), _TENSORS, "tensors were computed or read in one pass")
    _demand(len(trace.outputs), _SHOWN, "tensors were returned")
    _demand(len(trace.sights), _SHOWN, "variables were seen at marks")
    _demand(len(trace.unused_views), _SHOWN, "views were made at the end")
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
    yield from (one.called for one in (*trace.records, *trace.leaves))
    yield from (path for path, _ in trace.outputs)
    yield from (local.name for local in trace.sights)
