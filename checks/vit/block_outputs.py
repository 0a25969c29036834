"""S21 and S22: what the second block gives, and the last one."""

from __future__ import annotations

from ..locating.context import Predict
from ..locating.walk import Walk, stage_of


def settle_block_outputs(walk: Walk, x: Predict, ids: tuple[str, ...]) -> None:
    """S21 and S22; ``ids`` tell why ``x``, which the readout reads, is not what the last block gave."""
    last = walk.blocks
    if last >= 2:
        second = stage_of("block_output", 2)
        walk.settle("second_block_output", 0, second, walk.places.find(second(walk.context)))
    told = walk.sizes.depth > 1  # a script's is 1 where no list of blocks tells it
    asked = min(last, walk.sizes.depth) if told else last
    if not ids and last > asked:
        ids = ("depth-off-by-one",)
    expected = stage_of("block_output", asked) if last else stage_of("positioned_tokens", 0)
    found = walk.places.find(x(walk.context))
    walk.settle("last_block_output", 0, x, found, right=expected, ids=ids, blame=_blame(walk, ids))


def _blame(walk: Walk, ids: tuple[str, ...]) -> str | None:
    """Where it is not S22, the stage that is the wrong one because of it."""
    blame = None
    if ids == ("readout-before-encoder",):
        blame = "class_representation"
    elif ids == ("block-result-discarded",) and "every-block-reads-first-input" in walk.ids:
        blame = "second_block_output"
    return blame if blame in walk.family.by_key else None
