"""What the checks of a stage share: the stage as it was seen, and how far it is from right."""

from __future__ import annotations

import torch

from ...reference.stages import Stage
from ..examining import beside
from ..examining.crashing import UNEXPLAINED
from ..examining.examination import Examination
from ..examining.passes.replay import Seen
from ..examining.passes.steadiness import demand_steady
from ..examining.verdicts import CheckFailed, NotAsked, NotReached
from ..locating.comparing import ROUNDING
from ..locating.search.axes import NAMES


def demand(examination: Examination, row: Stage) -> Seen:
    """The stage as it was seen in block 1. Raises NotReached where the walk never came to it."""
    if examination.unfinished and row.key in examination.to_write:
        raise NotReached(examination.unfinished.message)
    crash = examination.diagnosis
    if crash is not None and row.key == crash.stage:
        raise CheckFailed(crash.message, examination.faults(row.key))
    if row.key in examination.absent:
        raise NotAsked("this model has no such stage, and needs none")
    seen = examination.examples[0].first(row.key)
    if row.key in examination.missing:
        raise _missing(examination, row)
    if seen is not None:
        demand_steady(examination.parted, examination.examples[0], row.key)
        if row.key in examination.beside():
            raise CheckFailed(beside.MESSAGE, (), examination.first_draw)
        return seen
    if crash is not None:
        raise NotReached("the forward pass stopped before it")
    raise NotAsked("this architecture has no such stage")


def _missing(examination: Examination, row: Stage) -> Exception:
    """Where the walk is stuck, or else the first stage that the pass goes on without, is to blame."""
    stuck = examination.walk.unexplained
    first, block = next(iter(examination.missing.items())) if stuck is None else stuck
    where = f"in block {block}" if block else "here"
    if row.key != first:
        before = examination.failed_before(row.key)
        return NotReached(f"{before or 'an earlier stage'} could not be followed any further")
    if stuck is not None:
        return CheckFailed(examination.walk.lost or f"{UNEXPLAINED} {where}")
    return CheckFailed(
        f"it was not found {where}: the forward pass goes on without it, or computes it in a way"
        " that cannot be followed"
    )


def measured(row: Stage, seen: Seen) -> str:
    """Where the student's tensor is farthest from what the equation gives."""
    student, right = seen.student, seen.right
    if student.shape != right.shape:
        return f"Its shape is {list(student.shape)}, and {list(right.shape)} follows from the stages before."
    if not seen.differs(ROUNDING):
        return ""
    position = int((student - right).abs().nan_to_num(float("inf")).argmax())
    index = [int(one) for one in torch.unravel_index(torch.tensor(position), student.shape)]
    where = ", ".join(f"{NAMES.get(letter, letter)} {at}" for letter, at in zip(row.axes.split(), index))
    block = f" in block {seen.step.block}" if seen.step.block else ""
    return (
        f"Largest error {seen.error:.3g}{block} at {where}: {float(student[tuple(index)]):.6g} is there, "
        f"{float(right[tuple(index)]):.6g} follows from the stages before "
        f"(tolerance {ROUNDING:g} of the largest value, {seen.scale:.3g})."
    )
