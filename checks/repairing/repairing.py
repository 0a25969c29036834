"""One small change that makes a wrong program right in every stage: then that is where the mistake is."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ...submissions.host.session import Session
from ...submissions.host.trace import Reference, Trace
from ...submissions.questions.size_limits import is_large
from ..examining.examination import Examination
from ..examining.passes.replay import Seen
from ..examining.repair import Repair
from ..locating.search.places import Found
from .suspects import suspects
from .trials import Trials

# What may be spent on changed programs: a try of one that raises costs 1, and takes some 30 ms.
_EFFORT, _LESS = 150.0, 80.0  # the second where the mistake has a name, and its line alone is looked for
_MOST, _FEWER = 1_000, 300  # changes that are looked at, and then


def is_repairable(examination: Examination) -> bool:
    """Can changed programs be tried: is it a finished model, of which a pass takes little?"""
    if not examination.assignment.architectures or examination.session.is_script or examination.unfinished:
        return False
    return not is_large(examination.first_draw.sizes)


def find_repair(
    examination: Examination, session: Session, *, named: bool = False
) -> tuple[Repair, Examination] | None:
    """The first change that leaves nothing wrong at any stage, and the program with it, examined.

    None where none that is tried does.

    ``session`` is of another process than the examination's: it may end by what a changed program does.
    Less is tried where the mistake is ``named``. Raises SubmissionError where that process ended.
    """
    trials = Trials(examination, session, _LESS if named else _EFFORT)
    likeliest = suspects(examination, anywhere=trials.used is not None)
    for edit, patience in trials.promising(likeliest[: _FEWER if named else _MOST]):
        repaired = trials.repaired(edit, patience)
        stage = None if repaired is None else first_changed(examination, repaired)
        if repaired is not None and stage is not None:
            return Repair(edit, stage), repaired
    return None


def first_changed(examination: Examination, repaired: Examination) -> str | None:
    """The key of the first stage of the right program that the wrong one does not compute.

    From the second block on that is the first stage that was wrong, or else how blocks are put together.
    """
    for seen in repaired.example(examination.first_draw).seen:
        if seen.step.found and not _is_computed(examination, repaired, seen):
            wrong = (key for key in examination.keys if examination.is_wrong(key))
            joined = "second_block_output" if seen.step.block == 2 else "last_block_output"
            return next(wrong, joined) if seen.step.block > 1 else seen.step.key
    return None


def _is_computed(examination: Examination, repaired: Examination, seen: Seen) -> bool:
    """Does the submission compute it, for what it returns, and laid out as the right program has it?"""
    walk, right = examination.walk, repaired.walk.trace
    there = walk.places.find(seen.student)
    if there is None or seen.step.found is None:
        return False
    if not _is_used(walk.trace, there, seen.student.shape):
        return False
    one, other = there.places[0], seen.step.found.places[0]
    alike = walk.trace.records[one.record].shape == right.records[other.record].shape
    return not alike or one.strides == other.strides


def _is_used(trace: Trace, there: Found, shape: Sequence[int]) -> bool:
    """Is what is returned made from some of these numbers, rather than from others beside them in memory?"""
    used = {number for _, one in trace.outputs for number in trace.ancestors(one)}
    first = there.places[0]
    sides = tuple(size for axis, size in enumerate(shape) if axis not in there.axes)
    own = _cells(trace, Reference("record", first.record, first.offset, sides, first.strides))
    read = [one for number in used for one in trace.records[number].inputs]
    read += [one for _, one in trace.outputs]
    of_it = (one for one in read if (one.kind, one.number) == ("record", first.record))
    return not used or any(bool(torch.isin(_cells(trace, one), own).any()) for one in of_it)


def _cells(trace: Trace, reference: Reference) -> Tensor:
    """Which numbers of its record a tensor consists of."""
    every = torch.arange(trace.value(reference).cells.numel())
    return every.as_strided(reference.shape, reference.strides, reference.offset).reshape(-1)
