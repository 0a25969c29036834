"""G02 and G03: the rows of the table of tokens, with positions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from torch import Tensor

from vitcheck.api import (
    UNKNOWN,
    VARIANT,
    Context,
    Form,
    Option,
    Predict,
    Use,
    Walk,
    as_rows,
    combine,
    sequences,
    settle_unknown,
    stage_of,
)

TABLE = "token_table"  # the role of the table of tokens, which the readout may use again

_POSITIONS = (  # given G02 and the positions; the right one first
    Form(lambda x, positions: x + positions),
    Form(lambda x, positions: x * math.sqrt(x.shape[-1]) + positions, "embedding-scaled", cost=VARIANT),
    Form(lambda x, positions: x + 2 * positions, "pos-added-twice"),
    Form(lambda x, positions: x * positions, "pos-multiplied"),
)


def embed(walk: Walk) -> Iterator[Option]:
    """The ways to both."""
    walk.ahead = "token_embeddings", 0
    yield Option(0.0, _tokens, (_positions,))


def _tokens(walk: Walk) -> bool:
    sizes = walk.sizes
    for table in walk.parameters.of_size(sizes.vocabulary * sizes.embed_dim):
        looked_up = _looked_up(table)
        found = walk.find(looked_up(walk.context))
        if found:
            walk.settle("token_embeddings", 0, looked_up, found)
            walk.roles[TABLE] = table
            return True
    return False


def _looked_up(table: Use) -> Predict:
    def predict(context: Context) -> Tensor:
        rows = as_rows(context.use(table), context.sizes.embed_dim)
        return rows[context.stage("token_ids").long()]

    return predict


def _rows(table: Use) -> Predict:
    return lambda context: as_rows(context.use(table), context.sizes.embed_dim)


def _ways(walk: Walk) -> Iterator[tuple[Form, Predict, Use | None]]:
    """From G02 to G03, right ways first; at last without positions."""
    x, sizes = stage_of("token_embeddings", 0), walk.sizes
    tables = walk.parameters.of_size(sizes.context * sizes.embed_dim, walk.position - 1)
    for form in _POSITIONS:
        yield from ((form, combine(form.function, x, _rows(table)), table) for table in tables)
    yield Form(lambda x: x, "pos-missing"), x, None


def _positions(walk: Walk) -> Iterator[Option]:
    """Any sequence that no known equation gives comes last."""
    walk.ahead = "positioned_tokens", 0
    for form, predict, table in _ways(walk):
        yield Option(form.price, partial(_take, form=form, predict=predict, table=table))
    sizes = walk.sizes
    for _, sequence in sequences(walk, sizes.embed_dim, sizes.context, len(walk.trace.records)):
        yield Option(UNKNOWN, partial(_take_unknown, sequence=sequence))


def _take(walk: Walk, form: Form, predict: Predict, table: Use | None) -> bool:
    found = walk.find(predict(walk.context))
    if found is None:
        return False
    x = stage_of("token_embeddings", 0)
    right = predict if table is None else combine(_POSITIONS[0].function, x, _rows(table))
    walk.settle("positioned_tokens", 0, predict, found, right=right, ids=[form.id] if form.id else [])
    if table is not None:
        walk.roles["positions"] = table
    return True


def _take_unknown(walk: Walk, sequence: Predict) -> bool:
    settle_unknown(walk, "positioned_tokens", 0, sequence, stage_of("token_embeddings", 0))
    return True
