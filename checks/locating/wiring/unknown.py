"""Tensors taken from the graph: what was computed where no known equation leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import prod

from torch import Tensor

from ..best_first import MISFITS, UNKNOWN
from ..comparing import IN_SINGLE, equal
from ..context import Context, Predict
from ..search.nearness import fingerprint, same
from ..search.origins import origin
from ..search.relations import measured
from ..walk import Walk
from .graph_tensors import GraphTensor, earlier_stages, heads_apart, read_or_made, until_next_attention

_LATER = 0.001  # for each stage before it
_IN_ONE_BLOCK = 0.2
_WITHIN_A_LINE = 0.1
_UNCLEAR = 0.2  # for what is no simple relation; a power is what a softmax makes of a factor before it
_UNCLEAR_WORDS = ("no simple relation", "nothing in common", "to the power")


def _takings(walk: Walk, like: Tensor) -> Iterator[tuple[GraphTensor, Predict, Tensor]]:
    """Every later tensor of the size of ``like`` that is none of the stages before, nor that, in order."""
    known = [one for one in walk.context.stages.values() if one.shape == like.shape]
    apart = heads_apart(walk, walk.position) if like.dim() == 4 else ()
    for taken in (*read_or_made(walk, walk.position, _until(walk, like)), *apart):
        if not _fits(walk, taken, like):
            continue
        predict = _laid_out(walk, taken, like)
        if predict is None:
            continue
        tensor = predict(walk.context)
        if not equal(tensor, like) and not any(same(tensor, one) for one in known):
            yield taken, predict, tensor


def _until(walk: Walk, like: Tensor) -> int:
    """Beyond the next attention lies another block."""
    return len(walk.trace.records) if like.dim() == 4 else until_next_attention(walk)


def _fits(walk: Walk, taken: GraphTensor, like: Tensor) -> bool:
    reference = taken.reference(walk.context)
    value = walk.trace.value(reference)
    heads = 1 + len(taken.heads_before)
    return (
        heads * prod(reference.shape) == like.numel() and "float" in value.dtype and value.cells is not None
    )


def _laid_out(walk: Walk, taken: GraphTensor, like: Tensor) -> Predict | None:
    """In the shape of ``like``: axes of one size folded or not, heads side by side, tokens first."""
    shape = taken.reference(walk.context).shape
    B, T = like.shape[0], like.shape[-2]
    if taken.heads_before:
        return _read(taken, lambda x, c: x) if shape == (B, *like.shape[2:]) else None
    if like.dim() == 3:
        if shape == (T, B, like.shape[2]) and shape != tuple(like.shape):
            return _read(taken, lambda x, c: x.transpose(0, 1))
        return (
            _read(taken, lambda x, c: x.reshape(c.sizes.batch, -1, x.shape[-1]))
            if shape[-1] == like.shape[2]
            else None
        )
    if like.dim() == 4:
        heads, fixed = like.shape[1], like.shape[1] != walk.sizes.heads
        if shape in ((B, heads, *like.shape[2:]), (B * heads, *like.shape[2:])):
            return _read(taken, lambda x, c: x.reshape(c.sizes.batch, -1, *x.shape[-2:]))
        if shape == (B, T, heads * like.shape[3]):
            return _read(
                taken,
                lambda x, c: x.reshape(*x.shape[:2], heads if fixed else c.sizes.heads, -1).transpose(1, 2),
            )
        return None
    return _read(taken, lambda x, c: x) if shape == tuple(like.shape) else None


def _read(taken: GraphTensor, laid_out: Callable[[Tensor, Context], Tensor]) -> Predict:
    return lambda context: laid_out(taken.tensor(context), context)


def unknown_price(walk: Walk) -> float:
    """Of two equal explanations the one with the earlier unknown is right: the later tensor follows from it.

    A block is rarely wrong where the one before was right.
    """
    return UNKNOWN + _LATER * len(walk.steps) + _IN_ONE_BLOCK * bool(walk.blocks)


@dataclass(frozen=True)
class Unknown:
    """A tensor that no known equation gives, with what was measured of it and the price of taking it."""

    taken: GraphTensor
    predict: Predict
    told: str
    price: float
    made_up: bool  # is it made of random numbers alone?


def unknowns(walk: Walk, key: str, right: Predict, part: str = "") -> Iterator[Unknown]:
    """Every later tensor that may stand where ``right`` should: all of stage ``key``, or a ``part`` of it."""
    like = right(walk.context)
    for taken, predict, tensor in _takings(walk, like):
        if not equal(tensor, like, IN_SINGLE):
            yield _measured(walk, key, taken, predict, right, part)


def in_single(walk: Walk, ways: Sequence[Predict]) -> Iterator[tuple[int, Predict]]:
    """Every later tensor that one of ``ways`` gives, the first of which is right, as far as float32 can tell.

    With it comes the number of the first way that does.
    """
    given = {0: walk.context.of(ways[0])}
    for number, way in enumerate(ways[1:], 1):
        with suppress(*MISFITS):
            given[number] = walk.context.of(way)
    for _, predict, tensor in _takings(walk, given[0]):
        number = next((at for at, one in given.items() if equal(tensor, one, IN_SINGLE)), -1)
        if number >= 0:
            yield number, partial(_nearly, predict, ways[number])


def _nearly(taken: Predict, way: Predict, context: Context) -> Tensor:
    """What was taken, where it is what that way gives: at other sizes, too, or it was a coincidence."""
    tensor, expected = taken(context), context.of(way)
    return tensor if equal(tensor, expected, IN_SINGLE) else expected


def _measured(
    walk: Walk, key: str, taken: GraphTensor, predict: Predict, right: Predict, part: str
) -> Unknown:
    reference = taken.reference(walk.context)
    random, image = origin(walk.trace, reference).random, walk.trace.value(reference).image
    if random and not image and not part:
        return Unknown(taken, predict, "", 0.0, True)
    tensor = predict(walk.context)
    earlier = earlier_stages(walk, key, walk.number, tensor)
    axes = "B T D" if part else walk.family.stage(key).axes
    given = right(walk.context)
    told = walk.once(
        (key, part, *map(fingerprint, (tensor, given, *earlier.values())), *earlier),
        lambda: measured(tensor, given, axes, earlier, part=part),
    )
    unclear = any(one in told for one in _UNCLEAR_WORDS)
    price = _UNCLEAR * unclear + _WITHIN_A_LINE * _is_within_a_line(walk, taken)
    return Unknown(taken, predict, told + (" Random numbers went into it." if random else ""), price, False)


def _is_within_a_line(walk: Walk, taken: GraphTensor) -> bool:
    """Is it read on the line that makes it? Then it is what that line makes in the end that is unknown."""
    made = walk.trace.records[taken.record]
    for later in walk.trace.records[taken.record + 1 :]:
        if any(one.kind == "record" and one.number == taken.record for one in later.inputs):
            return later.frames[:1] == made.frames[:1]
    return False
