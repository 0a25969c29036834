"""What was located on one trace, evaluated on others of the same submission."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from ....reference.model_sizes import ModelSizes
from ....submissions.host.trace import Trace
from ...locating.comparing import equal
from ...locating.context import Context, Predict
from ...locating.search.places import Found, Places, is_at, places_in
from ...locating.steps import Step
from ...locating.walk import Walk


@dataclass(frozen=True)
class Seen:
    """One stage of one block on one trace: the student's tensor, and what the right equation gives."""

    step: Step
    student: Tensor
    right: Tensor

    @cached_property
    def error(self) -> float:
        """The largest difference; infinite where shapes differ or a number is not finite."""
        if self.student.shape != self.right.shape:
            return float("inf")
        if not self.student.numel() or torch.equal(self.student, self.right):
            return 0.0
        apart = (self.student - self.right).abs()
        largest = float(apart.where(self.student != self.right, 0.0).max())  # infinities may be equal, too
        return largest if largest == largest else float("inf")

    @cached_property
    def scale(self) -> float:
        """The largest magnitude that the right equation gives; tolerances are relative to it."""
        finite = self.right[torch.isfinite(self.right)]
        return float(finite.abs().max()) if finite.numel() else 1.0

    @property
    def first_image(self) -> Seen:
        """The same of the first image of the batch alone."""
        return Seen(self.step, self.student[:1], self.right[:1])

    def differs(self, rounding: float) -> bool:
        """Is the largest difference more than ``rounding`` of the largest magnitude?"""
        return self.error > 0 and self.error > rounding * self.scale


class ReplayError(Exception):
    """The plan does not hold on this trace: it was a coincidence, or other operations ran."""


def replay(walk: Walk, trace: Trace, sizes: ModelSizes) -> list[Seen]:
    """Every step of ``walk`` on ``trace``; the student's tensors are looked up where the plan says.

    Raises ReplayError where one of them is not there.
    """
    if trace.signature != walk.trace.signature:
        raise ReplayError("other operations ran")
    context = walk.opened(trace, sizes)
    found: list[Seen] = []
    places: dict[tuple[int, ...], Places] = {}
    for step in walk.steps:
        student = context.of(step.predict)
        if step.found is not None and not _is_there(step, walk, trace, student):
            records = step.found.records
            if records not in places:
                places[records] = places_in(trace, records)
            if not places[records].hold(student, step.found.axes):
                raise ReplayError(f"{step.key} of block {step.block} is not where it was")
        context.settle(step.key, step.block, student)
        found.append(Seen(step, student, context.of(step.right)))
    return found


def _is_there(step: Step, walk: Walk, trace: Trace, student: Tensor) -> bool:
    """Is the tensor where it was located? At other sizes, does that record hold it and nothing else?"""
    if step.found is None:
        return False
    located = walk.context.stages[step.key, step.block].shape
    if trace is walk.trace and equal(_at(trace, step.found, tuple(located)), student):
        return True  # also of equal rows, say, whose numbers tell no place
    if step.found.axes:
        return False
    (place,) = step.found.places
    return is_at(place, trace.records[place.record].cells.numpy(), located, student.detach().numpy())


def reread(walk: Walk, trace: Trace, sizes: ModelSizes) -> Context:
    """The student's tensors of a pass at the very sizes that ``walk`` was located at, from their places.

    Nothing is predicted for what was observed, so this also serves where parameters were set to zero.
    Raises ReplayError where other operations ran.
    """
    if trace.signature != walk.trace.signature:
        raise ReplayError("other operations ran")
    context = walk.opened(trace, sizes)
    for step in walk.steps:
        shape = walk.context.stages[step.key, step.block].shape
        there = None if step.found is None else _at(trace, step.found, tuple(shape))
        context.settle(step.key, step.block, context.of(step.predict) if there is None else there)
    return context


def _at(trace: Trace, found: Found, shape: tuple[int, ...]) -> Tensor:
    apart = tuple(shape[axis] for axis in found.axes)
    shape = tuple(size for axis, size in enumerate(shape) if axis not in found.axes)
    pieces = [trace.tensor(place.window(shape)) for place in found.places]
    together = torch.stack(pieces).reshape(*apart, *shape)
    return together.movedim(tuple(range(len(apart))), found.axes)


def reference_pass(
    walk: Walk, trace: Trace, sizes: ModelSizes, equation: Callable[[Step], Predict] = lambda one: one.right
) -> dict[tuple[str, int], Tensor]:
    """The reference's own tensors: its equations with the student's parameters, chained from the image on.

    Other equations may be chained in the same way. They end where these do not go with each other: positions
    for other tokens than there should be, say.
    """
    context = walk.opened(trace, sizes)
    for step in walk.steps:
        chained = equation(step)
        if chained is not step.predict:
            made = walk.between.get((step.key, step.block), ())
            context.read_instead({one.predict: one.right for one in made})
        try:
            context.settle(step.key, step.block, context.of(chained))
        except (RuntimeError, ValueError, LookupError):
            break
    return context.stages
