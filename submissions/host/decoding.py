"""Replies of a submission's process, read: a trace, or Refused where they make no sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from ..errors import Frame, Refused, StudentCodeFailed
from .trace import Failed, Reference, Sight, Trace, Value
from .trace_limits import demand_measure

_MOST_CELLS = 1 << 48  # in all; more than any memory holds, and torch can still count it


@contextmanager
def reading() -> Iterator[None]:
    """Where a reply is read: one of another form than it should have is Refused."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise Refused(f"the reply of the submission's process makes no sense ({error})") from None


def decode(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Trace:
    """The trace in a reply. Raises Refused where that contradicts itself, or is beyond all measure."""
    with reading():
        trace = _decode(header, tensors)
        demand_measure(trace)
        return trace


def _decode(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Trace:
    counts = [int(row["count"]) for row in (*header["records"], *header["leaves"])]
    announced = sum(counts)
    if min(counts) < 0 or announced > _MOST_CELLS:
        raise ValueError(f"memories of {min(counts)} to {max(counts)} numbers")
    # without numbers, shapes can still be computed with
    cells = tensors.get("cells", torch.empty(announced, dtype=torch.float64, device="meta"))
    if cells.dtype != torch.float64 or tuple(cells.shape) != (announced,):
        raise ValueError(f"cells are {cells.dtype}{list(cells.shape)}, {announced} were announced")
    start = 0
    values: dict[str, list[Value]] = {"record": [], "leaf": []}
    for kind, rows in (("record", header["records"]), ("leaf", header["leaves"])):
        for number, row in enumerate(rows):
            count = int(row["count"])
            values[kind].append(_value(kind, number, row, cells[start : start + count]))
            start += count
    failure = header["error"]
    trace = Trace(
        signature=str(header["signature"]),
        records=tuple(values["record"]),
        leaves=tuple(values["leaf"]),
        outputs=tuple((str(path), _reference(where)) for path, where in header["outputs"]),
        sights=tuple(
            Sight(int(mark), str(name), _reference(where)) for mark, name, where in header["sights"]
        ),
        error=failure
        and StudentCodeFailed(str(failure["type"]), str(failure["message"]), _frames(failure["frames"])),
    )
    left_out = tuple((str(path), str(why)) for path, why in header.get("left_out", ()))
    trace = replace(trace, failed=_failed(header.get("failed")), left_out=left_out)
    _check_references(trace)
    return trace


def _failed(row: Any) -> Failed | None:
    if row is None:
        return None
    inputs, local = (
        tuple((str(name), _reference(where)) for name, where in row[key]) for key in ("inputs", "locals")
    )
    return Failed(str(row["op"]), inputs, tuple(float(one) for one in row["numbers"]), local)


def _check_references(trace: Trace) -> None:
    for record in trace.records:
        for reference in record.inputs:
            trace.value(reference)
    outputs = (where for _, where in trace.outputs)
    met = () if trace.failed is None else (*trace.failed.inputs, *trace.failed.locals)
    for reference in (*outputs, *(where for _, where in met), *(sight.reference for sight in trace.sights)):
        trace.value(reference)


def _value(kind: str, number: int, row: Mapping[str, Any], cells: Tensor) -> Value:
    return Value(
        number=number,
        op=str(row["op"]),
        reference=_reference([kind, number, row["offset"], row["shape"], row["strides"]]),
        dtype=str(row["dtype"]),
        image=bool(row["image"]),
        inputs=tuple(_reference(one) for one in row["inputs"]),
        scalars=tuple(float(one) for one in row["scalars"]),
        frames=_frames(row["frames"]),
        name=str(row["name"]),
        kind=str(row["kind"]),
        cells=cells,
    )


def _reference(row: Any) -> Reference:
    kind, number, offset, shape, strides = row
    if kind not in ("record", "leaf") or len(shape) != len(strides) or min((number, *shape)) < 0:
        raise ValueError("a reference is malformed")
    return Reference(kind, int(number), int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


def _frames(rows: Any) -> tuple[Frame, ...]:
    return tuple(_frame(str(file), int(line)) for file, line in rows)


@lru_cache(maxsize=1_000)  # most operations of a pass come from few lines
def _frame(file: str, line: int) -> Frame:
    return Frame(file, line)
