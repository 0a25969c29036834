"""The scores that follow from what was located: on another image, or with other weights at other sizes.

The plan of a walk holds wherever the same operations run. What a model gives there without being traced must
be what its plan predicts, mistakes included: those are blamed where they stand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ....reference.model_sizes import ModelSizes
from ....submissions.errors import Refused
from ....submissions.host.trace import Trace, Value
from ....submissions.questions.uses import Wide
from ...locating.context import Context
from ...locating.walk import Walk
from ..verdicts import NotApplicable


@dataclass
class _Fed(Context):
    """What equations read where the input is another than that of the trace."""

    given: Tensor | None = None

    @property
    def image(self) -> Tensor:
        assert self.given is not None
        return self.given


def predicted(walk: Walk, trace: Trace, sizes: ModelSizes, image: Tensor) -> Tensor:
    """The logits that the plan gives for ``image``, with the parameters of ``trace``.

    Raises NotApplicable where the plan is not known down to the logits, or needs more than parameters.
    """
    if walk.unexplained is not None or not all(step.explained for step in walk.steps):
        raise NotApplicable("what the model computes is not known well enough to predict it")
    context = walk.begun_in(_Fed(without_images(trace), sizes, given=image))
    try:
        for step in walk.steps:
            context.settle(step.key, step.block, context.of(step.predict))
            if step.key == "logits":
                return context.stages["logits", 0]
    except (Refused, RuntimeError, LookupError, ValueError, TypeError) as error:
        raise NotApplicable(f"what the stages give could not be computed: {error}") from None
    raise NotApplicable("the logits were not found")


def without_images(trace: Trace) -> Trace:
    """The parameters alone: whatever depends on the image cannot be read."""
    nothing = torch.empty(0)
    records = (replace(one, cells=nothing) if one.image else one for one in trace.records)
    return replace(trace, records=tuple(records))


def with_weights(wide: Wide[Trace], seed: int) -> Trace:
    """The trace of its shapes with the numbers of its weights, and with what is computed from them."""
    nothing = torch.empty(0)
    records = (replace(one, cells=wide.made.get(one.number, nothing)) for one in wide.trace.records)
    leaves = tuple(_filled(one, wide, seed) for one in wide.trace.leaves)
    return replace(wide.trace, records=tuple(records), leaves=leaves)


def _filled(leaf: Value, wide: Wide[Trace], seed: int) -> Value:
    name = leaf.name if leaf.name else _alone_in_its_size(leaf.cells.numel(), wide)
    values: Tensor | None = wide.held.get(name)
    if name in wide.drawn:
        values = wide.drawn[name].values(name, (leaf.cells.numel(),), seed)
    whole = values is not None and values.numel() == leaf.cells.numel() and _is_straight(leaf)
    return replace(leaf, cells=values.reshape(-1) if values is not None and whole else torch.empty(0))


def _alone_in_its_size(count: int, wide: Wide[Trace]) -> str:
    """A plain attribute has no name in a trace; it is known by its size, if that is no other's."""
    names = [name for name, one in wide.held.items() if one.numel() == count]
    return names[0] if len(names) == 1 else ""


def _is_straight(leaf: Value) -> bool:
    """Does the memory begin with the leaf, and is it laid out as its axes are written?"""
    step = 1
    for size, stride in zip(reversed(leaf.reference.shape), reversed(leaf.reference.strides)):
        if size > 1 and stride != step:
            return False
        step *= size
    return leaf.reference.offset == 0 and step == leaf.cells.numel()
