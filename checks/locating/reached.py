"""How far a pass came that ended in an exception: the stages up to the one that was being computed."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature

from torch import Tensor

from ...reference.stages import Stage
from .context import Context, Predict
from .walk import Walk, applied, stage_of
from .wiring.in_hand import at_hand, is_in_hand

_UNFINISHED = ("attention_scores", "attention_probabilities", "attention_context", "mlp_hidden")


def settle_reached(walk: Walk) -> None:
    """Settles each stage behind the last one that was settled, as long as the next one was still computed."""
    if walk.steps and walk.steps[-1].key == walk.family.stages[-1].key:
        if walk.steps[-1].found is None:
            walk.steps.pop()  # implied by the logits, and never computed
        return
    while (row := _next(walk)) is not None and _settled(walk, row):
        pass
    while walk.steps and walk.steps[-1].findings and walk.steps[-1].key in _UNFINISHED:
        walk.steps.pop()  # such as scores before their scale


def _next(walk: Walk) -> Stage | None:
    """The row behind the last stage that was settled; None in a block, and where another block comes next."""
    rows = {row.key: row for row in walk.family.blocks.get(walk.architecture or "", walk.family.stages)}
    key, _ = _latest(walk)
    if key == "block_output" and walk.blocks < 2:
        key = "second_block_output"  # which it has not come to, or there is none
    keys = list(rows)
    following = keys[keys.index(key) + 1]
    blocks = {"second_block_output": 2, "last_block_output": walk.sizes.depth}.get(following, 0)
    inside = keys[keys.index("block_input") + 1 : keys.index("block_output")]
    return None if following in inside or walk.blocks < blocks else rows[following]


def _settled(walk: Walk, row: Stage) -> bool:
    """Settles a stage that is in a record of its own, in hand, or what it is computed from."""
    block = walk.number if row.key in ("block_input", "block_output") else 0
    for predict, handed_on in _ways(walk, row):
        tensor = predict(walk.context)
        found = walk.places.find(tensor) if handed_on else walk.find(tensor)
        made = found is not None and (handed_on or found.record > walk.position)
        if made or is_in_hand(walk, tensor):
            walk.settle(row.key, block, predict, found)
            return True
    return False


def _ways(walk: Walk, row: Stage) -> Iterator[tuple[Predict, bool]]:
    """What the stage may be, and whether that may be what it is computed from."""
    if not row.predecessors:
        yield from ((_in_hand(number), False) for number in _vectors(walk, row))
    elif row.key == "final_sequence":
        x = stage_of("last_block_output", 0)
        norms = walk.parameters.norms(x(walk.context), walk.position - 1)
        yield from ((applied(norm, x), True) for norm, _, _ in norms)
        if walk.normed:
            yield x, True
    elif row.operation is None:
        blocks = {"second_block_output": 2, "last_block_output": walk.blocks}
        yield stage_of(*("block_output", blocks[row.key]) if row.key in blocks else _latest(walk)), True
    else:
        yield from ((one, False) for one in _computed(walk, row))


def _latest(walk: Walk) -> tuple[str, int]:
    return (walk.steps[-1].key, walk.steps[-1].block) if walk.steps else walk.given[0]


def _computed(walk: Walk, row: Stage) -> Iterator[Predict]:
    """By the row's function, where that reads nothing but stages and sizes."""
    function = row.function
    assert function is not None
    others = list(signature(function).parameters)[len(row.predecessors) :]
    if all(hasattr(walk.sizes, name) for name in others):
        read = [stage_of(key, 0) for key in row.predecessors]

        def predict(context: Context) -> Tensor:
            sizes = [getattr(context.sizes, name) for name in others]
            return function(*(one(context) for one in read), *sizes)

        yield predict


def _vectors(walk: Walk, row: Stage) -> Iterator[int]:
    """What is in hand and is one vector an image, whatever the image."""
    for number, (_, reference) in enumerate(at_hand(walk.context)):
        if not walk.trace.value(reference).image and reference.shape == row.shape(walk.sizes):
            yield number


def _in_hand(number: int) -> Predict:
    return lambda context: context.trace.tensor(at_hand(context)[number][1])
