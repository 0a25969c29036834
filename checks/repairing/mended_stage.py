"""The stage at which one change makes a program right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

import torch
from torch import Tensor

from ...submissions.host.trace import Reference, Trace
from ...submissions.reading.edits.edit import Edit
from ..examining.examination import Examination
from ..examining.passes.replay import Seen
from ..locating.search.nearness import same
from ..locating.search.places import Found


def mended_stage(examination: Examination, repaired: Examination, edit: Edit) -> str | None:
    """The key of the first stage of the right program that the wrong one does not compute.

    Where the line that is changed computes a stage rightly, and something else of it, that is it.
    Where it computes stages for nothing before that, the mistake is where they are not handed on, if what is
    changed calls for them, or if something else that was computed with them is used in their place. Where
    nothing but that lies between them and what is missing, that is where.
    Of the last block, that is what is missing behind it.
    From the second block on that is the first stage that was wrong. Where no stage was, or where nothing of
    the block is computed but what it reads, it is how blocks are put together. A parameter of another size
    brings other numbers of all that are drawn after it, so that nothing can be compared: then it is the first
    stage that was wrong.
    """
    if (spoilt := _spoilt_on(examination, repaired, edit)) is not None:
        return spoilt
    wrong = [key for key in examination.keys if examination.is_wrong(key)]
    example = repaired.example(examination.first_draw)
    if wrong and not _has_same_weights(examination.first.trace, example.trace):
        return wrong[0]
    every = [one for one in example.seen if one.step.found]
    missing = next((one for one in every if not _is_computed(examination, repaired, one)), None)
    dropped = _dropped(examination, repaired, edit, every, missing)
    if dropped is not None and (missing is None or missing.step.block or dropped.step.block < 2):
        missing = min(filter(None, (missing, dropped)), key=every.index)
    if missing is None or missing.step.block < 2:
        return None if missing is None else missing.step.key
    of_block = [one for one in every if one.step.block == missing.step.block]
    if wrong and any(_is_computed(examination, repaired, one) for one in of_block[1:]):  # the first is read
        return wrong[0]
    return "second_block_output" if missing.step.block == 2 else "last_block_output"


def _has_same_weights(trace: Trace, other: Trace) -> bool:
    before = {one.name: one.cells for one in trace.leaves if one.kind == "parameter"}
    pairs = ((before.get(one.name), one.cells) for one in other.leaves)
    return all(one is None or one.shape != cells.shape or torch.equal(one, cells) for one, cells in pairs)


def _spoilt_on(examination: Examination, repaired: Examination, edit: Edit) -> str | None:
    """The first stage that is wrong, if the line that is changed computes it on its way, and ends with it."""
    wrong = next((one for one in examination.first.seen if examination.is_amiss(one.step)), None)
    if wrong is None or wrong.step.block > 1 or examination.walk.places.find(wrong.right) is None:
        return None
    there, records = repaired.walk.places.find(wrong.right), repaired.walk.trace.records
    if there is None or not any(_is_alike(wrong, one) for one in repaired.first.seen):
        return None
    made, *after = (one.frames[:1] for one in records[there.record : there.record + 2])
    return wrong.step.key if made == (edit.frame,) and made not in after else None


def _is_alike(wrong: Seen, seen: Seen) -> bool:
    """Is it this stage, as it should be? Not where ways of making earlier ones, each allowed, differ."""
    is_same = (seen.step.key, seen.step.block) == (wrong.step.key, wrong.step.block)
    return is_same and seen.student.shape == wrong.right.shape and same(seen.student, wrong.right)


def _dropped(
    examination: Examination, repaired: Examination, edit: Edit, every: Sequence[Seen], missing: Seen | None
) -> Seen | None:
    """What is computed and not handed on to anything but what is ``missing``."""
    read = _read(examination.walk.trace)
    first = next((one for one in every if not _is_used(examination, one, read)), None)
    if first is None:
        return None
    row = [*takewhile(lambda one: not _is_used(examination, one, read), every[every.index(first) :])]
    before = (one for one, after in pairwise(every) if after is missing)
    is_read = any(not _is_used(examination, one, read) for one in before)  # by what is missing alone
    is_replaced = not is_read and _is_used(examination, first, read, whole=True)
    return _last_alike(row) if is_replaced or edit.frame in _lines(repaired, first) else None


def _last_alike(row: Sequence[Seen]) -> Seen:
    """Where something is last handed on as it is; else the first of it."""
    found = None
    for before, one in pairwise(row):
        if found is not before and torch.equal(before.student, one.student):
            found = one
    return found or row[0]


def _lines(repaired: Examination, seen: Seen) -> Sequence[tuple[str, int]]:
    """That make it; outside of blocks, where rows are read, also those that make views of what it is in."""
    if seen.step.found is None:
        return ()
    record = repaired.walk.trace.records[seen.step.found.record]
    return record.frames if seen.step.block else (*record.frames, *record.views)


def _is_computed(examination: Examination, repaired: Examination, seen: Seen) -> bool:
    """Does the submission compute it, and lay it out as the right program does?"""
    walk, right = examination.walk, repaired.walk
    there, meant = walk.places.find(seen.student), right.places.find(seen.student)
    if there is None or meant is None:
        return there is not None
    alike = walk.trace.records[there.record].shape == right.trace.records[meant.record].shape
    return not alike or there.places[0].strides == meant.places[0].strides


def _read(trace: Trace) -> Sequence[Reference]:
    """All that is read for what is returned, and that itself."""
    read = (one for number in trace.returned_from for one in trace.records[number].inputs)
    return [*read, *(one for _, one in trace.outputs)] if trace.returned_from else []


def _is_used(examination: Examination, seen: Seen, read: Sequence[Reference], *, whole: bool = False) -> bool:
    """Is some of these numbers ``read``, or any of the ``whole`` record of them?"""
    trace, there = examination.walk.trace, examination.walk.places.find(seen.student)
    if there is None or not read:
        return True
    own = _cells(trace, _reference(there, seen.student.shape))
    of_it = (one for one in read if (one.kind, one.number) == ("record", there.record))
    return any(whole or bool(torch.isin(_cells(trace, one), own).any()) for one in of_it)


def _reference(found: Found, shape: Sequence[int]) -> Reference:
    """Its first piece."""
    first = found.places[0]
    sides = tuple(size for axis, size in enumerate(shape) if axis not in found.axes)
    return first.window(sides)


def _cells(trace: Trace, reference: Reference) -> Tensor:
    """Which numbers of its record a tensor consists of."""
    every = torch.arange(trace.value(reference).cells.numel())
    return every.as_strided(reference.shape, reference.strides, reference.offset).reshape(-1)
