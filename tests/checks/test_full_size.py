"""Shapes at full size, read off a pass without numbers."""

from __future__ import annotations

import pytest
import torch
from examining import examine

from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.full_size import Measured, shape_at
from vitcheck.checks.examining.verdicts import CheckFailed, NotReached
from vitcheck.checks.locating.search.places import Found, Place
from vitcheck.checks.locating.steps import Step
from vitcheck.checks.rules.kinds.shape import check_shape
from vitcheck.reference.sizes import Sizes, preset
from vitcheck.submissions.errors import Frame, OutOfMemory, StudentCodeFailed
from vitcheck.submissions.host.trace import Reference, Trace, Value

SMALL = Sizes(batch=2, channels=4, height=8, width=8, patch=2, embed_dim=24, heads=3, depth=3, classes=9)
FULL = preset("B/16")


def trace_of(shape: tuple[int, ...]) -> Trace:
    """A pass with one record, laid out in the order of its axes."""
    strides = tuple(torch.empty(shape, device="meta").stride())
    reference = Reference("record", 0, 0, shape, strides)
    cells = torch.empty(torch.Size(shape).numel(), device="meta")
    value = Value(0, "im2col", reference, "float64", True, (), (), (), "", "", cells)
    return Trace(
        signature="",
        records=(value,),
        leaves=(),
        outputs=(),
        sights=(),
        left_out=(),
        error=None,
        failed=None,
    )


def test_a_stage_that_lies_transposed_in_a_record_of_equal_sizes_keeps_its_own_axes() -> None:
    located, full = trace_of((2, 16, 16)), trace_of((1, 768, 196))  # 16 patches of 4 x 2 x 2 numbers
    place = Found((Place(0, 0, (256, 1, 16)),))
    step = Step("flattened_patches", 0, lambda c: c.image, lambda c: c.image, place)
    assert shape_at(step, "B N F", [Measured(SMALL, (2, 16, 16))], located, full, FULL) == (1, 196, 768)


def test_a_stage_that_is_a_whole_record_has_its_shape() -> None:
    located, full = trace_of((2, 17, 24)), trace_of((1, 197, 512))
    step = Step("tokens", 0, lambda c: c.image, lambda c: c.image, Found((Place(0, 0, (408, 24, 1)),)))
    assert shape_at(step, "B T D", [Measured(SMALL, (2, 17, 24))], located, full, FULL) == (1, 197, 512)


def _failing(error: Exception, monkeypatch: pytest.MonkeyPatch) -> Examination:
    """One whose pass at full size ends so."""
    examination = examine("report")

    def failed(*_: object, **__: object) -> Trace:
        raise error

    monkeypatch.setattr(examination.session, "trace", failed)
    return examination


def test_more_memory_than_there_is_at_full_size_says_nothing_of_shapes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    examination = _failing(OutOfMemory("the code needed more than 4 GB of memory"), monkeypatch)
    for key in ("patches", "tokens", "logits"):
        check_shape(examination, key)


def test_what_fails_at_full_size_is_told_at_the_first_stage_and_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = Frame("vit.py", 7)
    examination = _failing(StudentCodeFailed("ValueError", "no image is so large", (frame,)), monkeypatch)
    with pytest.raises(CheckFailed, match="no image is so large") as told:
        check_shape(examination, "patches")
    assert told.value.frame == frame
    with pytest.raises(NotReached):
        check_shape(examination, "tokens")
