"""Query, key and value that were drawn at random instead of projected: S09 to S11 of the right shape only."""

from __future__ import annotations

from torch import Tensor

from ..context import Context, Predict
from ..search.origins import is_random
from ..walk import Walk
from .heads import Heads


def drawn_heads(walk: Walk) -> Heads | None:
    """The next three random tensors of the shape B h T d, taken for query, key and value."""
    B, T, D = walk.context.stage("positioned_tokens").shape
    drawn = [
        record
        for record in walk.trace.records[walk.position :]
        if is_random(record.op) and not record.image and len(record.shape) == 4
    ]
    fitting = [one for one in drawn if one.shape[::2] == (B, T) and one.shape[1] * one.shape[3] == D][:3]
    if len(fitting) < 3:
        return None
    first, second, third = (_record(one.number) for one in fitting)
    return Heads((first, second, third), fitting[0].shape[1], "drawn")


def _record(number: int) -> Predict:
    def predict(context: Context) -> Tensor:
        return context.trace.tensor(context.trace.records[number].reference)

    return predict


def blame_drawn(walk: Walk, block: int) -> None:
    for position, step in enumerate(walk.steps):
        if step.block == block and step.key in ("query", "key", "value"):
            record = None if step.found is None else step.found.record
            walk.note_at(position, "stage-made-up", step.key, record)
