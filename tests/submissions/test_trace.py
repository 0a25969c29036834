"""A reply is read into numbers, or refused: whatever a child may send, nothing else happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from wired import sent

from vitcheck.submissions.child.passes import recorded_passes as recording
from vitcheck.submissions.child.tracing.results import results_in
from vitcheck.submissions.child.tracing.tracing import Tracer
from vitcheck.submissions.errors import Refused
from vitcheck.submissions.host.decoding import decode
from vitcheck.submissions.host.replies import answer_in
from vitcheck.submissions.host.trace import Reference, Trace
from vitcheck.submissions.questions.recording import RecordPass

Header = dict[str, Any]


class Small(nn.Module):
    """Has a view, a copy of a parameter, and a number without axes."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.arange(6, dtype=torch.float64).view(2, 3))
        self.scale = torch.tensor(0.5, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.clone().T * self.scale


def reply() -> Header:
    """What arrives of a pass, as plain data with its tensors in it."""
    model, image = Small(), torch.ones(4, 3, dtype=torch.float64)
    tracer = Tracer(model, image)
    with tracer:
        result = model(image)
    header: Header = sent(recording.recorded(tracer, (), results_in(result)))
    row = header["records"][-1]
    where = ["record", len(header["records"]) - 1, row["offset"], row["shape"], row["strides"]]
    header["sights"] = [[0, "y", where]]
    return header


def read(header: Header) -> Trace:
    return decode(answer_in(RecordPass(sizes=None), header))


def test_a_trace_holds_the_numbers_of_every_window() -> None:
    trace = read(reply())
    expected = torch.ones(4, 3, dtype=torch.float64) @ Small().weight.T * 0.5
    assert torch.equal(trace.tensor(trace.sights[0].reference), expected)
    (path, where) = trace.outputs[0]
    assert (path, where) == ("", trace.sights[0].reference)
    assert [one.name for one in trace.leaves] == ["weight", ""]


def test_what_is_used_of_a_parameter_is_used_as_it_was_turned() -> None:
    trace = read(reply())
    windows = [trace.used(use) for use in trace.uses]
    (turned, factor) = windows
    assert torch.equal(trace.tensor(turned), Small().weight.T)
    assert trace.tensor(factor) == 0.5


def test_a_window_of_nothing_is_empty() -> None:
    trace = read(reply())
    assert trace.tensor(Reference("record", 0, 10**9, (0, 3), (1, 1))).shape == (0, 3)


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (0, (5, 3), (3, 1)),  # a row more than there is
        (-1, (4, 3), (3, 1)),
        (11, (2,), (-1,)),
        (12, (1,), (1,)),
    ],
)
def test_a_window_outside_of_its_memory_is_refused(
    offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    with pytest.raises(Refused, match="outside of its memory"):
        read(reply()).tensor(Reference("record", 0, offset, shape, strides))


def test_a_window_that_repeats_one_number_without_end_is_refused() -> None:
    header = reply()
    header["outputs"] = [["x", ["record", 0, 0, [10**4, 10**4], [0, 0]]]]
    with pytest.raises(Refused, match="100000000 numbers are in one view"):
        read(header)


def _set(*path: Any, to: Any) -> Callable[[Header], None]:
    def change(header: Header) -> None:
        inside: Any = header
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = to

    return change


NONSENSE: dict[str, Callable[[Header], None]] = {
    "no records": _set("records", to=None),
    "records that are text": _set("records", to="abc"),
    "fewer numbers than announced": _set("records", 0, "count", to=11),
    "a memory of less than nothing": _set("records", 0, "count", to=-1),
    "more than any memory": _set("records", 0, "count", to=2**70),
    "an input from nowhere": _set("records", 1, "inputs", 0, 1, to=99),
    "an input that is made of itself": _set("records", 1, "inputs", 0, to=["record", 1, 0, [4, 2], [2, 1]]),
    "an output from nowhere": _set("outputs", 0, 1, 1, to=99),
    "a local variable from nowhere": _set("sights", 0, 2, 1, to=99),
    "a number below zero": _set("sights", 0, 2, 1, to=-1),
    "an axis below zero": _set("sights", 0, 2, 3, to=[-4, 3]),
    "more axes than strides": _set("sights", 0, 2, 3, to=[4, 3, 1]),
    "a shape that is no list": _set("records", 0, "shape", to=4),
    "an unknown kind": _set("outputs", 0, 1, 0, to="file"),
    "a line that is no number": _set("records", 0, "frames", to=[["a.py", "x"]]),
    "half an error": _set("error", to={"type": "ValueError"}),
    "an error that is text": _set("error", to="boom"),
    "infinitely many": _set("records", 0, "offset", to=float("inf")),
    "a number that is none": _set("records", 0, "scalars", to=["nan"]),
    "cells that are no tensor": _set("cells", to=[0.0]),
    "something that nobody asked for": _set("records", 0, "points", to=100),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_a_reply_that_contradicts_itself_is_refused(name: str) -> None:
    header = reply()
    NONSENSE[name](header)
    with pytest.raises(Refused, match="makes no sense"):
        read(header)


def test_cells_of_another_type_are_refused() -> None:
    header = reply()
    with pytest.raises(Refused, match="float32"):
        read({**header, "cells": header["cells"].float()})


def test_without_numbers_shapes_can_still_be_computed_with() -> None:
    trace = read({**reply(), "cells": None})
    tensor = trace.tensor(trace.outputs[0][1])
    assert (tensor.shape, tensor.device.type) == ((4, 2), "meta")
