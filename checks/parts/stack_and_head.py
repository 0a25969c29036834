"""A stack of blocks by itself, and a head: where they end, and what they may be given."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from torch import Tensor

from ..locating.anatomy import Input
from ..locating.best_first import Option
from ..locating.context import Context, Predict
from ..locating.forms import NORMS
from ..locating.search.norms import BatchNorm, Norm
from ..locating.walk import Walk, applied, right_of, stage_of
from ..vit.block_outputs import settle_block_outputs
from ..vit.readout import settle_head

_FINDING = 1.0
SOMETHING_ELSE = 1.4  # the price of an end that is not returned: below that of an unknown stage


def end_of_stack(walk: Walk, read: Input) -> Iterator[Option]:
    """What is returned: what the last block gives, a norm of it, or something else. One block is no stack."""
    x, ids = read
    if walk.blocks < 2:
        return
    wrong = _FINDING * len(ids)
    yield Option(wrong, partial(_ended, x=x, ids=ids))
    for norm, _, _ in walk.parameters.norms(x(walk.context), walk.position - 1, NORMS):
        yield Option(wrong + _FINDING * len(norm.ids), partial(_normed, x=x, ids=ids, norm=norm))
    yield Option(wrong + SOMETHING_ELSE, partial(_settled, x=x, ids=ids))


def _settled(walk: Walk, x: Predict, ids: tuple[str, ...]) -> bool:
    settle_block_outputs(walk, x, ids)
    return True


def _ended(walk: Walk, x: Predict, ids: tuple[str, ...]) -> bool:
    return walk.ends_with(x(walk.context)) and _settled(walk, x, ids)


def _normed(walk: Walk, x: Predict, ids: tuple[str, ...], norm: Norm | BatchNorm) -> bool:
    normed = applied(norm, x)
    if not walk.ends_with(normed(walk.context)):
        return False
    settle_block_outputs(walk, x, ids)
    found = walk.find(normed(walk.context))
    walk.settle("final_sequence", 0, normed, found, right=right_of(norm, x), ids=norm.ids)
    return True


def head_of_tokens(walk: Walk) -> bool:
    """Settles what is read of the tokens that it is given, B T D, and the scores."""
    return settle_head(walk, stage_of("last_block_output", 0))


def head_of_one(walk: Walk) -> bool:
    """Settles the scores of the one vector of each image that it is given, B D, as if every token were it."""

    def tokens(context: Context) -> Tensor:
        return context.stage("last_block_output", 0)[:, None].expand(-1, walk.sizes.tokens, -1)

    return settle_head(walk, tokens)
