"""Going on from S02 to S07 where no known equation explains how patches or tokens were made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from torch import Tensor

from ...reference import equations as eq
from ..locating.context import Context, Predict
from ..locating.resync.taken import (
    Taken,
    leads_on,
    likely_map,
    operand,
    read_or_made,
    sequences,
    settle_odd,
    settle_taken,
)
from ..locating.search.parameters import Linear
from ..locating.walk import Walk, applied, combine, stage_of
from .position_tables import rows_of

_Settle = Callable[[Walk], bool]


def odd_patches(walk: Walk, settle_tokens: _Settle) -> bool:
    """Settles S02 to S07 where the patches or their embeddings are unknown."""
    for flat, record in _flattened(walk):
        for map_, _, _ in walk.parameters.linears(flat(walk.context), record - 1, walk.sizes.embed_dim):
            _settle_patches(walk, flat, map_)
            return settle_tokens(walk)
    return odd_embeddings(walk, settle_tokens)


def _flattened(walk: Walk) -> Iterator[tuple[Predict, int]]:
    """Every record that could be the image before it is cut, or the patches."""
    B, N, F = walk.sizes.batch, walk.sizes.patches, walk.sizes.axes["F"]
    image = tuple(walk.context.image.shape)
    for taken in read_or_made(walk, 1, len(walk.trace.records)):
        reference = taken.reference(walk.context)
        if not walk.trace.value(reference).image:
            continue
        if reference.shape == image:
            yield _cut(taken), taken.record
        elif prod(reference.shape) == B * N * F and reference.shape[0] in (B, B * N):
            yield _reshaped(taken), taken.record


def _cut(taken: Taken) -> Predict:
    def predict(context: Context) -> Tensor:
        image = context.trace.tensor(taken.reference(context))
        return eq.flatten_patches(eq.cut_patches(image, context.sizes.patch))

    return predict


def _reshaped(taken: Taken) -> Predict:
    """As B N and what is left."""

    def predict(context: Context) -> Tensor:
        x = context.trace.tensor(taken.reference(context))
        return x.reshape(context.sizes.batch, context.sizes.patches, -1)

    return predict


def _right_patches(context: Context) -> Tensor:
    return eq.cut_patches(context.image, context.sizes.patch)


def _settle_patches(walk: Walk, flat: Predict, map_: Linear) -> None:
    def patches(context: Context) -> Tensor:
        x, P = flat(context), context.sizes.patch
        return x.reshape(*x.shape[:2], -1, P, P)

    settle_odd(walk, "patches", 0, patches, _right_patches)
    walk.settle("flattened_patches", 0, flat, walk.find(flat(walk.context)))
    embedded = applied(map_, stage_of("flattened_patches", 0))
    walk.settle("patch_embeddings", 0, embedded, walk.find(embedded(walk.context)))
    walk.roles["projection"] = map_


def odd_embeddings(walk: Walk, settle_tokens: _Settle) -> bool:
    """Settles S02 to S07 where the embeddings are what no map of the patches gives."""
    before, position = list(walk.steps), walk.position
    right = _embeddings_so_far(walk)
    for number, predict in _embedded(walk):
        walk.steps, walk.position = [one for one in before if one.key != "patch_embeddings"], position
        _settle_patches_right(walk)
        settle_odd(walk, "patch_embeddings", 0, predict, right)
        walk.position = max(position, number)
        if settle_tokens(walk):
            return True
    walk.steps, walk.position = before, position
    if before:
        walk.context.stages["patch_embeddings", 0] = right(walk.context)
    else:
        walk.context.stages.pop(("patch_embeddings", 0), None)
    return False


def _embeddings_so_far(walk: Walk) -> Predict:
    """S04 as it was found, else the patches through the next map of its size."""
    for step in walk.steps:
        if step.key == "patch_embeddings":
            return step.predict
    flat: Predict = combine(eq.flatten_patches, _right_patches)
    map_ = likely_map(walk, walk.sizes.axes["F"], walk.sizes.embed_dim, -1)
    return flat if map_ is None else applied(map_, flat)


def _settle_patches_right(walk: Walk) -> None:
    if not walk.steps:
        walk.settle("patches", 0, _right_patches, walk.find(_right_patches(walk.context)))
        flat: Predict = combine(eq.flatten_patches, stage_of("patches", 0))
        walk.settle("flattened_patches", 0, flat, walk.find(flat(walk.context)))


def _embedded(walk: Walk) -> Iterator[tuple[int, Predict]]:
    """Every later record that could hold the embeddings, tokens or features first."""
    B, N, D = walk.sizes.batch, walk.sizes.patches, walk.sizes.embed_dim
    for record in walk.trace.records[walk.position + 1 :]:
        if record.image and prod(record.shape) == B * N * D and record.shape[0] == B:
            if record.shape[-1] == D:
                yield record.number, _reshaped_to(record.number, turned=False)
            elif record.shape[1] == D:
                yield record.number, _reshaped_to(record.number, turned=True)


def _reshaped_to(number: int, turned: bool) -> Predict:
    def predict(context: Context) -> Tensor:
        x, D = context.trace.tensor(Taken(number).reference(context)), context.sizes.embed_dim
        return x.reshape(len(x), D, -1).mT if turned else x.reshape(len(x), -1, D)

    return predict


def odd_tokens(walk: Walk) -> bool:
    """Settles S05 to S07 from the first sequence on that a block reads."""
    T, D = walk.sizes.tokens, walk.sizes.embed_dim
    found = list(sequences(walk, D, T, len(walk.trace.records)))
    for taken, predict in found:
        if leads_on(walk, predict(walk.context), taken.record - 1):
            _settle_tokens(walk, found[0][1])
            _settle_positions(walk, taken, predict)
            return True
    return False


def _settle_tokens(walk: Walk, first: Predict) -> None:
    """S05 and S06: the first sequence with as many rows as there are tokens, and its row 0."""
    token: Predict = combine(lambda sequence: sequence[:, :1], first)
    walk.settle("class_token", 0, token, walk.find(token(walk.context)))
    right: Predict = combine(
        eq.prepend_class_token, stage_of("class_token", 0), stage_of("patch_embeddings", 0)
    )
    settle_taken(walk, "tokens", 0, first, right)


def _settle_positions(walk: Walk, taken: Taken, predict: Predict) -> None:
    """S07, and S06 where something was done to it before positions were added."""
    tokens = stage_of("tokens", 0)
    T, D = walk.sizes.tokens, walk.sizes.embed_dim
    tables = walk.parameters.of_size(T * D)
    right: Predict = tokens
    if tables:
        table = tables[0]
        walk.roles["positions"] = table
        right = combine(eq.add_positions, tokens, rows_of(table))
        added = operand(walk, taken, tokens, D)
        if added is not None:
            step = walk.steps.pop()
            settle_odd(walk, "tokens", 0, added, step.predict)
    settle_taken(walk, "positioned_tokens", 0, predict, right)
