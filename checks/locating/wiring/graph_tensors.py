"""Tensors taken from the graph: what was computed where no known equation leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import torch
from torch import Tensor

from ....submissions.host.trace import Reference, Value
from ..comparing import ROUNDING
from ..context import Context, Predict
from ..search.nearness import factor, same
from ..search.norms import EPS, Norm
from ..search.parameter_search import LinearMap
from ..search.relations import measured
from ..walk import Walk

_BIAS_WITHIN = 8  # records between a weight and its bias, as in parameters.py


@dataclass(frozen=True)
class GraphTensor:
    """A tensor of the graph: record ``record``, or what it reads as input ``position``.

    Of heads that are computed one after another it is all, stacked on the second axis, up to ``record``.
    """

    record: int
    position: int | None = None
    heads_before: tuple[int, ...] = ()

    def reference(self, context: Context) -> Reference:
        record = context.trace.records[self.record]
        return record.reference if self.position is None else record.inputs[self.position]

    def tensor(self, context: Context) -> Tensor:
        last = context.trace.tensor(self.reference(context))
        if not self.heads_before:
            return last
        records = (context.trace.records[one] for one in self.heads_before)
        return torch.stack([*(context.trace.tensor(one.reference) for one in records), last], 1)

    def as_tokens(self, tokens_first: bool) -> Predict:
        """As B T D: from that shape or T B D, or with images and tokens in one axis."""

        def predict(context: Context) -> Tensor:
            x, B = self.tensor(context), context.sizes.batch
            if tokens_first:
                return x.reshape(-1, B, x.shape[-1]).transpose(0, 1)
            return x.reshape(B, -1, x.shape[-1])

        return predict


def until_next_attention(walk: Walk) -> int:
    """The record that next ranges over all pairs of tokens, or one past the last."""
    B, T, _ = walk.context.stage("positioned_tokens").shape
    heads = {walk.heads or walk.sizes.heads, walk.sizes.heads}
    for record in walk.trace.records[walk.position + 1 :]:
        if record.image and prod(record.shape) in {B * T * T * h for h in heads} and T in record.shape:
            return record.number
    return len(walk.trace.records)


def sequences(walk: Walk, width: int, tokens: int, until: int) -> Iterator[tuple[GraphTensor, Predict]]:
    """Every later record that could hold ``width`` features for each token, in order."""
    for taken in read_or_made(walk, walk.position + 1, until):
        predict = read_as_tokens(walk, taken, width, tokens)
        if predict is not None:
            yield taken, predict


def read_or_made(walk: Walk, start: int, until: int) -> Iterator[GraphTensor]:
    """Each record, and what is read in another shape: a view, or a buffer that was written in part."""
    seen = set[Reference]()
    for record in walk.trace.records[start:until]:
        for position, reference in enumerate(record.inputs):
            if reference.kind != "record" or reference.number < start or reference in seen:
                continue
            seen.add(reference)
            if _is_another_whole(reference, walk.trace.value(reference)):
                yield GraphTensor(record.number, position)
        yield GraphTensor(record.number)


def heads_apart(walk: Walk, start: int) -> Iterator[GraphTensor]:
    """What one line makes for one head after another, as often as there are heads."""
    heads, made = walk.heads or walk.sizes.heads, dict[object, list[int]]()
    for record in walk.trace.records[start:] if heads > 1 else ():
        made.setdefault((record.op, record.shape, record.frames), []).append(record.number)
    for numbers in made.values():
        for at in range(heads - 1, len(numbers), heads):
            yield GraphTensor(numbers[at], heads_before=tuple(numbers[at - heads + 1 : at]))


def _is_another_whole(reference: Reference, made: Value) -> bool:
    """Is all that was made, or more, read in another shape?"""
    return reference.shape != made.shape and prod(reference.shape) >= prod(made.shape)


def read_as_tokens(walk: Walk, taken: GraphTensor, width: int, tokens: int) -> Predict | None:
    """The tensor as B T D, if it has the size; None where it does not depend on the image."""
    reference, B = taken.reference(walk.context), walk.sizes.batch
    value = walk.trace.value(reference)
    if not value.image or "float" not in value.dtype:
        return None
    if reference.shape in ((B, tokens, width), (tokens, B, width)):
        return taken.as_tokens(reference.shape[0] != B)
    return taken.as_tokens(_tokens_first(walk)) if reference.shape == (B * tokens, width) else None


def _tokens_first(walk: Walk) -> bool:
    """Did the latest sequence lie with its tokens before its images?"""
    for step in reversed(walk.steps):
        place = None if step.found is None or step.found.axes else step.found.places[0]
        if place is not None and len(place.strides) == 3:
            return place.strides[0] < place.strides[1]
    return False


def operand(
    walk: Walk, sum_: GraphTensor, branch: Predict, width: int, residual: Predict | None = None
) -> Predict | None:
    """What was added in place of ``branch``, where it was changed on a line of its own before.

    None where ``sum_`` is no sum of two tensors, or adds an earlier stage or the ``residual``.
    """
    record = walk.trace.records[sum_.record]
    tokens = branch(walk.context).shape[1]
    for position in reversed(range(len(record.inputs))):
        taken = GraphTensor(sum_.record, position)
        predict = read_as_tokens(walk, taken, width, tokens)
        made = walk.trace.value(taken.reference(walk.context))
        if predict is None or _on_one_line(made, record) or (residual and _equal(walk, predict, residual)):
            continue
        if not _is_settled(walk, predict):
            return predict if "add" in record.op and len(record.inputs) == 2 else None
    return None


def _is_settled(walk: Walk, predict: Predict) -> bool:
    tensor = predict(walk.context)
    return any(one.shape == tensor.shape and same(tensor, one) for one in walk.context.stages.values())


def _equal(walk: Walk, one: Predict, other: Predict) -> bool:
    a, b = one(walk.context), other(walk.context)
    return a.shape == b.shape and same(a, b)


def _on_one_line(one: Value, other: Value) -> bool:
    return one.frames[:1] == other.frames[:1]


def leads_on(walk: Walk, x: Tensor, after: int) -> bool:
    """Does a linear map read ``x``, or a norm of it, or the class token of either?"""
    for tensor in (x, x[:, walk.class_row]):
        if next(walk.parameters.linears(tensor, after), None):
            return True
        for _, normed, found in walk.parameters.norms(tensor, after):
            rows = (normed, normed[:, walk.class_row]) if normed.dim() == 3 else (normed,)
            if any(next(walk.parameters.linears(one, found.record - 1), None) for one in rows):
                return True
    return False


def likely_norm(walk: Walk, x: Tensor, near: Tensor, after: int) -> Norm | None:
    """LayerNorm with the next parameters that could be its own, and the eps that fits ``near`` best."""
    vectors = walk.parameters.of_size(x.shape[-1], after)
    for weight, bias in pairwise(vectors):
        if bias.record - weight.record <= _BIAS_WITHIN:
            seen = [one.eps for one in walk.roles.values() if isinstance(one, Norm)]
            norms = [Norm(weight, bias, eps) for eps in (seen[:1] or EPS)]
            return min(norms, key=lambda one: _distance(near, one(walk.context, x)))
    return None


def _distance(x: Tensor, right: Tensor) -> tuple[int, float]:
    """The fewest different numbers first, then the direction."""
    different = (x - right).abs() > ROUNDING * right.abs().max()
    return int(different.sum()), factor(x, right)[1]


def likely_map(walk: Walk, inputs: int, outputs: int, after: int) -> LinearMap | None:
    """The next parameter of the right size as a linear map, with the bias that is used next to it."""
    for weight in walk.parameters.of_size(inputs * outputs, after):
        biases = walk.parameters.of_size(outputs, weight.record - 1, _BIAS_WITHIN)
        form = "in-out" if walk.context.use(weight).shape[0] == inputs != outputs else "out-in"
        return LinearMap(weight, form, next(iter(biases), None))
    return None


def settle_unknown(
    walk: Walk, key: str, block: int, predict: Predict, right: Predict, message: str | None = None
) -> None:
    """Takes the student's tensor, which no known equation gives; what was measured of it is the message."""
    tensor = predict(walk.context)
    if message is None:
        axes, earlier = walk.family.stage(key).axes, earlier_stages(walk, key, block, tensor)
        message = measured(tensor, right(walk.context), axes, earlier)
    found = walk.find(tensor)
    walk.settle(key, block, predict, found, right=right, explained=False, message=message)


def settle_taken(walk: Walk, key: str, block: int, predict: Predict, right: Predict) -> None:
    """Takes the student's tensor: explained where it is the right one."""
    tensor = predict(walk.context)
    if same(tensor, right(walk.context)):
        walk.settle(key, block, predict, walk.find(tensor), right=right)
    else:
        settle_unknown(walk, key, block, predict, right)


def earlier_stages(walk: Walk, key: str, block: int, like: Tensor) -> Mapping[str, Tensor]:
    """The other stages of this block, and those outside of blocks, by label if of the shape of ``like``."""
    own_first = sorted(walk.context.stages.items(), key=lambda one: one[0][1] != block)
    return {
        walk.family.stage(name).label: tensor
        for (name, number), tensor in own_first
        if number in (0, block) and name != key and tensor.shape == like.shape
    }
