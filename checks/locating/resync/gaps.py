"""Going on after attention that no known equation explains: the tensors are taken from the graph."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ....reference import equations as eq
from ....submissions.host.trace import Value
from ..anatomy import anatomy_of
from ..comparing import ROUNDING, equal
from ..context import Context, Predict
from ..heads import Heads
from ..search.nearness import factor
from ..search.origins import origin
from ..search.relations import measured
from ..walk import Walk, combine, stage_of
from .taken import Taken, earlier_stages


def as_heads(taken: Taken, block: int) -> Predict:
    """As B h T d, from that shape, or from heads folded into the batch, or side by side."""

    def predict(context: Context) -> Tensor:
        tensor = context.trace.tensor(taken.reference(context))
        return _heads_apart(tensor, context.stage("query", block).shape)

    return predict


def _as_pairs(taken: Taken, block: int) -> Predict:
    """As B h T T."""

    def predict(context: Context) -> Tensor:
        B, h, T, _ = context.stage("query", block).shape
        return context.trace.tensor(taken.reference(context)).reshape(B, h, T, T)

    return predict


def _heads_apart(tensor: Tensor, shape: torch.Size) -> Tensor:
    B, h, T, d = shape
    if tensor.shape == (B, T, h * d):
        return tensor.reshape(B, T, h, d).transpose(1, 2)
    return tensor.reshape(shape)


def contexts(walk: Walk, block: int) -> Iterator[Taken]:
    """Every later record that could be the context of the heads, in order."""
    B, h, T, d = walk.context.stage("query", block).shape
    for record in walk.trace.records[walk.position + 1 :]:
        if record.cells is not None and record.shape in ((B, h, T, d), (B * h, T, d), (B, T, h * d)):
            yield Taken(record.number)


def settle_gap(walk: Walk, block: int, heads: Heads, context: Taken) -> None:
    """S09 to S14, where S14 is ``context``. What the right equation gives is explained, the rest is not."""
    walk.heads, walk.packing, walk.gaps = heads.heads, heads.packing, True
    for number, name in enumerate(("query", "key", "value")):
        walk.context.stages[name, block] = heads.parts[number](walk.context)
    product = _product(walk, block, context)
    for number, name in enumerate(("query", "key")):
        student = None if product is None else _unless_it_is(walk, product, number, heads.parts[number])
        _settle(walk, name, block, student, heads.parts[number])
    _settle(walk, "value", block, None, heads.parts[2])
    q, k, v = (stage_of(name, block) for name in ("query", "key", "value"))
    softmax, weights = _softmax(walk, block, context), _weights(walk, block, context)
    _settle(walk, "attention_scores", block, softmax, combine(eq.attention_scores, q, k))
    s = stage_of("attention_scores", block)
    _settle(
        walk,
        "attention_probabilities",
        block,
        weights,
        combine(anatomy_of(walk.family).probabilities[0].function, s, q),
    )
    p = stage_of("attention_probabilities", block)
    student = (context, as_heads(context, block))
    _settle(walk, "attention_context", block, student, combine(eq.attention_context, p, v))


_Student = tuple[Taken, Predict] | None


def _settle(walk: Walk, key: str, block: int, student: _Student, right: Predict) -> None:
    """The student's tensor where it differs from the right one, else the right one."""
    expected = right(walk.context)
    if student is None or equal(student[1](walk.context), expected):
        walk.settle(key, block, right, walk.find(expected))
        return
    taken, predict = student
    made = origin(walk.trace, taken.reference(walk.context))
    tensor = predict(walk.context)
    if not walk.trace.value(taken.reference(walk.context)).image and made.random:
        walk.settle(key, block, predict, None, right=right)
        walk.note("stage-made-up", key, taken.record)
        return
    message = measured(
        tensor, expected, walk.family.stage(key).axes, earlier_stages(walk, key, block, tensor)
    ) + (" Random numbers went into it." if made.random else "")
    walk.settle(key, block, predict, walk.find(tensor), right=right, explained=False, message=message)


def _pairs(walk: Walk, block: int, context: Taken) -> Iterator[Value]:
    """Every record over all pairs of tokens before the context, latest first."""
    B, h, T, _ = walk.context.stage("query", block).shape
    for record in reversed(walk.trace.records[walk.position : context.record]):
        if record.cells is not None and torch.Size(record.shape).numel() == B * h * T * T:
            yield record


def _product(walk: Walk, block: int, context: Taken) -> Value | None:
    """The product of queries and keys."""
    size = walk.context.stage("query", block).numel()
    for record in _pairs(walk, block, context):
        if [torch.Size(one.shape).numel() for one in record.inputs[-2:]] == [size, size]:
            return record
    return None


def _unless_it_is(walk: Walk, product: Value, number: int, part: Predict) -> _Student:
    """What the product reads in the place of a query or key, unless that is a multiple of it."""
    taken = Taken(product.number, len(product.inputs) - 2 + number)
    shape = product.inputs[taken.position or 0].shape
    right = part(walk.context)
    transposed = shape[-1] == right.shape[-2] and shape[-2] == right.shape[-1]

    def predict(context: Context) -> Tensor:
        tensor = context.trace.tensor(taken.reference(context))
        return _heads_apart(tensor.mT if transposed else tensor, part(context).shape)

    _, rest = factor(predict(walk.context), right)
    return None if rest < ROUNDING else (taken, predict)


def _softmax(walk: Walk, block: int, context: Taken) -> _Student:
    """What the softmax reads."""
    for record in _pairs(walk, block, context):
        if "softmax" in record.op:
            taken = Taken(record.number, 0)
            return taken, _as_pairs(taken, block)
    return None


def _weights(walk: Walk, block: int, context: Taken) -> _Student:
    """What the product that gives the context reads on its left."""
    size = next((torch.Size(one.shape).numel() for one in _pairs(walk, block, context)), 0)
    record = walk.trace.records[context.record]
    for position, reference in enumerate(record.inputs):
        if size and torch.Size(reference.shape).numel() == size:
            taken = Taken(context.record, position)
            return taken, _as_pairs(taken, block)
    return None
