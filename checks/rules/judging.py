"""A stage against its shape, its equation, its invariants, and the reference with the same parameters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import torch

from ...reference.stages import Stage
from ...submissions.errors import StudentCodeFailed, SubmissionError
from ..examining import beside
from ..examining.dependence import dependence
from ..examining.drawing import Draw, is_large
from ..examining.examination import Examination
from ..examining.passes.example import Example
from ..examining.passes.replay import Seen
from ..examining.passes.steadiness import demand_steady
from ..examining.returned_paths import demand_returned
from ..examining.verdicts import CheckFailed, NotAsked, NotReached
from ..locating.comparing import ROUNDING
from ..locating.search.axes import NAMES
from ..locating.walk import Step
from .rulebook import rulebook_of

_UNKNOWN = "no known equation, right or wrong, explains what the code computes"
_SHAPE_MISTAKES = {"mlp_hidden": "mlp-ratio-wrong"}


def check_shape(examination: Examination, key: str) -> None:
    """The stage has the assignment's full-size shape."""
    row = examination.family.stage(key)
    _demand(examination, row)
    full = examination.full_shapes()
    if full.failure is not None:
        raise CheckFailed(f"at the assignment's full size the model fails: {full.failure}")
    shape, expected = shape_and_expected(examination, row)
    if shape != expected:
        faults = examination.faults(key) or ([_SHAPE_MISTAKES[key]] if key in _SHAPE_MISTAKES else [])
        raise CheckFailed(f"{_named(row, expected)} was expected, and {list(shape or ())} is there", faults)


def shape_and_expected(
    examination: Examination, row: Stage
) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """At full size where the model runs there, else at the sizes of the first example."""
    full = examination.full_shapes().shapes.get(row.key)
    if full is not None:
        return full, row.shape(examination.assignment.full)
    example = examination.examples[0]
    seen = example.first(row.key)
    if seen is None:
        return None, row.shape(examination.assignment.full)
    return tuple(seen.student.shape), row.shape(example.draw.sizes)


def _named(row: Stage, shape: Sequence[int]) -> str:
    return " × ".join(f"{letter} {size}" for letter, size in zip(row.axes.split(), shape))


def _demand(examination: Examination, row: Stage) -> Seen:
    """The stage as it was seen in block 1. Raises NotReached where the walk never came to it."""
    crash = examination.diagnosis
    if crash is not None and row.key == crash.stage:
        raise CheckFailed(crash.message, examination.faults(row.key))
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
        return CheckFailed(examination.walk.lost or f"{_UNKNOWN} {where}")
    return CheckFailed(
        f"it was not found {where}: the forward pass goes on without it, or computes it in a way"
        " that cannot be followed"
    )


def check_equation(examination: Examination, key: str) -> None:
    """The stage is what its equation gives from the student's own earlier stages and parameters."""
    row = examination.family.stage(key)
    seen = _demand(examination, row)
    for false in examination.false_claims():
        if false.finding.stage == key:
            raise CheckFailed(false.message, (false.finding.id,), examination.first_draw)
    if constant := examination.constants().get(key):
        ids = () if constant.id is None else (constant.id,)
        if not ids or examination.counts(ids[0]):
            raise CheckFailed(constant.message, ids, examination.first_draw)
    faults = examination.faults(key)
    if faults:
        draw = _smallest_fault(examination, key, faults)
        raise CheckFailed(_measured(row, _worst(examination, key) or seen), faults, draw)
    for example in examination.examples:
        if example.walk.lost and example.walk.unexplained and example.walk.unexplained[0] == key:
            raise CheckFailed(example.walk.lost, (), example.draw)
        for one in example.all(key):
            if not one.step.explained:
                told = (one.step.message, _depends(examination, one.step), _measured(row, one))
                raise CheckFailed(" ".join(filter(None, told)), (), example.draw)
            if one.differs(ROUNDING) and not one.step.findings:
                raise CheckFailed(_measured(row, one), (), example.draw)
    if key == "logits":
        demand_returned(examination)


def _depends(examination: Examination, step: Step) -> str:
    """Measured for the first stage that nothing explains: what follows is fed by it."""
    first = next((one for one in examination.walk.steps if not one.explained), None)
    return dependence(examination, step) if step is first else ""


def _worst(examination: Examination, key: str) -> Seen | None:
    """The first sight of a stage that differs from its equation."""
    for example in examination.examples:
        for one in example.all(key):
            if one.differs(ROUNDING):
                return one
    return None


def _measured(row: Stage, seen: Seen) -> str:
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


def _smallest_fault(examination: Examination, key: str, faults: Sequence[str]) -> Draw:
    """The smallest sizes at which the mistake still shows."""

    def fails(draw: Draw) -> bool:
        if examination.is_exhausted:
            return False
        try:
            example = examination.example(examination.buildable(draw))
        except (StudentCodeFailed, SubmissionError):
            return False
        found = {one.id for step in example.walk.steps for one in step.findings if one.stage == key}
        return bool(found & set(faults))

    draw = None
    # a model that is large at the smallest draw has its sizes in its code
    if not is_large(examination.first_draw.sizes) and examination.may_shrink(faults[0]):
        # here, since it loads hypothesis, and most submissions need none
        from ..examining.passes.shrinking import smallest

        draw = smallest(fails, examination.seed, examination.family)
    return examination.first_draw if draw is None else examination.buildable(draw)


def check_invariant(examination: Examination, key: str) -> None:
    """What always holds of the stage holds, in every example and block."""
    row = examination.family.stage(key)
    _demand(examination, row)
    faults = examination.faults(key)
    for example in examination.examples:
        for seen in example.all(key):
            if seen.step.findings and not faults:  # a variant that the assignment accepts
                continue
            broken = rulebook_of(examination.family).invariants[key](example, seen)
            if broken:
                block = f" (block {seen.step.block})" if seen.step.block else ""
                raise CheckFailed(f"{broken[0].upper()}{broken[1:]}{block}.", faults, example.draw)


def check_reference(examination: Examination, key: str) -> None:
    """The stage equals the one of the reference that carries the student's parameters."""
    row = examination.family.stage(key)
    _demand(examination, row)
    before = examination.failed_before(key)
    if before is not None:
        raise NotReached(f"{before} is not right, so that the reference and the student have parted there")
    for example in examination.examples[:2]:
        for seen in example.all(key):
            right = example.reference.get((key, seen.step.block))
            if right is None:
                raise NotReached("the student's parameters do not go with what is right before it")
            compared = Seen(seen.step, seen.student, right)
            if compared.differs(ROUNDING) and not _has_parted(example, seen.step):
                raise CheckFailed(_measured(row, compared), examination.faults(key), example.draw)


def _has_parted(example: Example, step: Step) -> bool:
    """Variants that the assignment accepts part from the reference by intent, earlier faults as well."""
    before = takewhile(lambda one: one is not step, example.walk.steps)
    return any(one.findings for one in example.walk.steps) or not all(one.explained for one in before)
