"""S02 to S07 as the pass has them, where no known equation gives them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod

from torch import Tensor

from ...reference import equations as eq
from ..locating.best_first import UNKNOWN, Option, later
from ..locating.context import Context, Predict
from ..locating.search.parameter_search import LinearMap
from ..locating.walk import Walk, applied, combine, stage_of
from ..locating.wiring.graph_tensors import (
    GraphTensor,
    leads_on,
    likely_map,
    operand,
    read_or_made,
    sequences,
    settle_taken,
    settle_unknown,
)
from ..locating.wiring.unknown import unknown_price
from .class_token import settle_class_token
from .position_tables import rows_of
from .token_sequences import put_together_later

_NEXT = 0.001  # the price of each that comes before
_STEM = 0.6  # of a variant that is looked for where no patches are cut
_UNMAPPED = 0.05  # of embeddings that are no map of any patches


def unknown_patches(walk: Walk) -> Iterator[Option]:
    """The patches or their embeddings are unknown, or several convolutions make them of the image."""
    yield later(_STEM, _stems)
    yield later(UNKNOWN, _other_patches)
    yield later(UNKNOWN + _UNMAPPED, _other_embeddings)


def unknown_embeddings(walk: Walk) -> Iterator[Option]:
    """The embeddings were computed, and the pass goes on with something else."""
    yield later(unknown_price(walk), _other_embeddings)


def _other_patches(walk: Walk) -> Iterator[Option]:
    for number, (flat, record) in enumerate(_flattened(walk)):
        yield Option(_NEXT * number, partial(_take_patches, flat=flat, record=record))


def _take_patches(walk: Walk, flat: Predict, record: int) -> bool:
    maps = walk.parameters.linears(flat(walk.context), record - 1, walk.sizes.embed_dim)
    map_ = next((one for one, _, _ in maps), None)
    if map_ is not None:
        _settle_patches(walk, flat, map_)
    return map_ is not None


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


def _cut(taken: GraphTensor) -> Predict:
    def predict(context: Context) -> Tensor:
        return eq.flatten_patches(eq.cut_patches(taken.tensor(context), context.sizes.patch))

    return predict


def _reshaped(taken: GraphTensor) -> Predict:
    """As B N and what is left."""

    def predict(context: Context) -> Tensor:
        return taken.tensor(context).reshape(context.sizes.batch, context.sizes.patches, -1)

    return predict


def _right_patches(context: Context) -> Tensor:
    return eq.cut_patches(context.image, context.sizes.patch)


def _settle_patches(walk: Walk, flat: Predict, map_: LinearMap) -> None:
    def patches(context: Context) -> Tensor:
        x, P = flat(context), context.sizes.patch
        return x.reshape(*x.shape[:2], -1, P, P)

    settle_unknown(walk, "patches", 0, patches, _right_patches)
    walk.settle("flattened_patches", 0, flat, walk.find(flat(walk.context)))
    embedded = applied(map_, stage_of("flattened_patches", 0))
    walk.settle("patch_embeddings", 0, embedded, walk.find(embedded(walk.context)))
    walk.roles["projection"] = map_


def _stems(walk: Walk) -> Iterator[Option]:
    """Embeddings behind several convolutions, and what stands between these: Xiao et al. 2021."""
    every = {one.number for one in walk.trace.records if "convolution" in one.op}
    for number, (record, predict) in enumerate(_embedded(walk) if len(every) > 1 else ()):
        made_of = walk.trace.ancestors(walk.trace.records[record].reference)
        if len(every & made_of) > 1:
            yield Option(_NEXT * number, partial(_take_stem, record=record, predict=predict))


def _take_stem(walk: Walk, record: int, predict: Predict) -> bool:
    _settle_patches_right(walk)
    walk.settle("patch_embeddings", 0, predict, walk.find(predict(walk.context)), ids=["conv-stem"])
    walk.position = max(walk.position, record)
    return True


def _other_embeddings(walk: Walk) -> Iterator[Option]:
    right = _embeddings_so_far(walk)
    for number, (record, predict) in enumerate(_embedded(walk)):
        yield Option(_NEXT * number, partial(_take_embeddings, right=right, record=record, predict=predict))


def _take_embeddings(walk: Walk, right: Predict, record: int, predict: Predict) -> bool:
    walk.steps = [one for one in walk.steps if one.key != "patch_embeddings"]
    _settle_patches_right(walk)
    settle_unknown(walk, "patch_embeddings", 0, predict, right)
    walk.position = max(walk.position, record)
    return True


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
        x, D = GraphTensor(number).tensor(context), context.sizes.embed_dim
        return x.reshape(len(x), D, -1).mT if turned else x.reshape(len(x), -1, D)

    return predict


def unknown_tokens(walk: Walk) -> Iterator[Option]:
    """S05 to S07: any sequence on that a block may read, up to the first attention."""
    found = list(sequences(walk, walk.sizes.embed_dim, walk.sizes.tokens, _until_pairs(walk)))
    for number, (taken, predict) in enumerate(found):
        yield Option(_NEXT * number, partial(_take_tokens, first=found[0][1], taken=taken, predict=predict))


def _until_pairs(walk: Walk) -> int:
    """The next record that ranges over all pairs of tokens, or one past the last."""
    behind = walk.trace.records[walk.position + 1 :]
    pairs = (one.number for one in behind if one.image and one.shape.count(walk.sizes.tokens) > 1)
    return next(pairs, len(walk.trace.records))


def _take_tokens(walk: Walk, first: Predict, taken: GraphTensor, predict: Predict) -> bool:
    if not leads_on(walk, predict(walk.context), taken.record - 1):
        return False
    choice = put_together_later(walk, first(walk.context)[:, 1:])
    if choice is None:
        _settle_tokens(walk, first)
        _settle_positions(walk, taken, predict)
    else:
        settle_class_token(walk, choice)
        settle_taken(walk, "positioned_tokens", 0, predict, choice.positioned)
    return True


def _settle_tokens(walk: Walk, first: Predict) -> None:
    """S05 and S06: the first sequence with as many rows as there are tokens, and its row 0."""
    token: Predict = combine(lambda sequence: sequence[:, :1], first)
    walk.settle("class_token", 0, token, walk.find(token(walk.context)))
    right: Predict = combine(
        eq.prepend_class_token, stage_of("class_token", 0), stage_of("patch_embeddings", 0)
    )
    settle_taken(walk, "tokens", 0, first, right)


def _settle_positions(walk: Walk, taken: GraphTensor, predict: Predict) -> None:
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
            settle_unknown(walk, "tokens", 0, added, step.predict)
    settle_taken(walk, "positioned_tokens", 0, predict, right)
