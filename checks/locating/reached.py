"""How far a pass came that ended in an exception: the stages up to the one that was being computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import chain

from torch import Tensor

from ...reference.equations import class_representation
from ...reference.stages import Stage
from ...submissions.host.trace import Reference
from ..architecture.catalogue import EQUATIONS
from .accounting import matrices_left
from .anatomy import anatomy_of
from .best_first import done
from .catalogued import catalogued
from .context import Context, Predict
from .in_hand import at_hand, is_in_hand, is_made_last
from .search.places import Found
from .steps import Finding, Step
from .walk import Walk, applied, combine, stage_of

_AFTER_READOUT = "final-norm-after-readout"
LEFT_OUT = ("-missing", "-skipped", "-left-out")  # how ids end that say what is not there
_OF_ONE_HEAD = "only-first-head-used"  # or the others are still to come, where nothing is made of all
_PROJECTING = ("block_input", "query", "key", "value", "attention_scores")
_MATRICES = {  # that are read at most on the way to a stage
    **dict.fromkeys(("patches", "flattened_patches", "patch_embeddings"), 1),
    **dict.fromkeys(("class_token", "tokens", "positioned_tokens"), 2),  # tables, and no maps
    **dict.fromkeys(_PROJECTING, 3),  # for each head, as they may be written
    **dict.fromkeys(("attention_output", "mlp_hidden", "mlp_output", "logits"), 1),
}


def settle_reached(walk: Walk) -> None:
    """Settles each stage behind the last one that was settled, as long as the next one was still computed."""
    if walk.steps and walk.steps[-1].key == walk.family.stages[-1].key:
        if walk.steps[-1].found is None:
            walk.steps.pop()  # implied by the logits, and never computed
        return
    while (row := _next(walk)) is not None and _settled(walk, row):
        pass
    leave_to_come(walk)


def leave_to_come(walk: Walk) -> None:
    """Takes back the last steps of a pass that ends early, where what is wrong of them may still come.

    An MLP that reads what the block does was tried by itself.
    """
    given = {step.block: step.found for step in walk.steps if step.key == "block_input"}
    tried = (
        at
        for at, step in enumerate(walk.steps)
        if step.key == "post_attention_norm" and step.findings and step.found == given.get(step.block)
    )
    del walk.steps[next(tried, len(walk.steps)) :]
    while walk.steps and _may_still_come(walk.steps):
        if lacks_something(walk.steps.pop()) and walk.steps and walk.steps[-1].key == "class_token":
            walk.steps.pop()  # which is put before nothing


def _may_still_come(steps: list[Step]) -> bool:
    """Is the last of them wrong for want of something, such as a scale, or no more than an earlier one?"""
    *before, last = steps
    if last.key == "block_input" and before and not last.findings:  # the same tensor, or what is tried on it
        return _may_still_come(before)
    is_first = any(one.id == _OF_ONE_HEAD for one in last.findings) and bool(before) and not before[-1].found
    is_earlier = (
        bool(last.findings) and last.found is not None and any(one.found == last.found for one in before)
    )
    return lacks_something(last) or is_earlier or is_first or _is_older(last, before)


def _is_older(norm: Step, before: list[Step]) -> bool:
    """Is it the block's second norm, and older than its attention, as what its MLP reads beside that?"""
    if norm.key != "post_attention_norm" or norm.found is None:
        return False
    made = (one.found.record for one in before if one.found and one.block == norm.block)
    return norm.found.record < max(made, default=0)


def but_left_out(step: Step) -> tuple[Finding, ...]:
    """What is said of it but that something is left out; all of it where that is all."""
    return tuple(one for one in step.findings if not one.id.endswith(LEFT_OUT)) or step.findings


def lacks_something(step: Step) -> bool:
    """Is it said of it that something is left out, which may come yet? A bias comes with its map."""
    return any(one.id.endswith(LEFT_OUT) and "bias" not in one.id for one in step.findings)


def _next(walk: Walk) -> Stage | None:
    """The row behind the last stage that was settled; None in a block, and where another block comes next."""
    rows = {row.key: row for row in walk.family.blocks.get(walk.architecture or "", walk.family.stages)}
    key, _ = _latest(walk)
    if key == "block_output" and walk.blocks < 2:
        key = "second_block_output"  # which it has not come to, or there is none
    keys = list(rows)
    following = keys[keys.index(key) + 1]
    # right behind one block others may be to come, even where no list tells how many there are
    blocks = {"second_block_output": 2, "last_block_output": max(2, walk.sizes.depth)}.get(following, 0)
    inside = keys[keys.index("block_input") + 1 : keys.index("block_output")]
    return None if following in inside or walk.blocks < blocks else rows[following]


def _settled(walk: Walk, row: Stage) -> bool:
    """Settles a stage that is in hand, in a record of its own, or what it is computed from.

    What is in hand is meant, whatever else could be read out of the same memory.
    """
    ways = list(_ways(walk, row))
    in_hand = (one for one in ways if done(partial(_is_in_hand, way=one), walk))
    recorded = (one for one in ways if done(partial(_is_recorded, way=one), walk))
    way = next(chain(in_hand, recorded), None)
    if way is None:
        return False
    block = walk.number if row.key in ("block_input", "block_output") else 0
    right = (way.right or ways[0].predict) if way.ids else None
    walk.settle(row.key, block, way.predict, _find(walk, way), right=right, ids=way.ids)
    if row.key == "block_output":
        walk.blocks = block
    if way.learned is not None:
        anatomy_of(walk.family).about_learned(walk, way.learned)
    return True


@dataclass(frozen=True)
class _Way:
    """What the stage may be, whether that may be what it is computed from, and the mistake that it is."""

    predict: Predict
    handed_on: bool = False
    ids: tuple[str, ...] = ()
    learned: Reference | None = None  # the vector that it is, where it is computed from nothing
    right: Predict | None = None  # what it should be, if not what the first way gives


def _is_in_hand(walk: Walk, way: _Way) -> bool:
    tensor = way.predict(walk.context)
    return is_in_hand(walk, tensor) or is_made_last(walk, tensor)


def _is_recorded(walk: Walk, way: _Way) -> bool:
    found = _find(walk, way)
    return found is not None and (way.handed_on or found.record > walk.position)


def _find(walk: Walk, way: _Way) -> Found | None:
    tensor = way.predict(walk.context)
    return walk.places.find(tensor) if way.handed_on else walk.find(tensor)


def _ways(walk: Walk, row: Stage) -> Iterator[_Way]:
    """What is right, then known mistakes of the row's function."""
    if not row.predecessors:
        yield from (_Way(_in_hand(number), learned=one) for number, one in _vectors(walk, row))
    elif row.key == "final_sequence":
        x = stage_of("last_block_output", 0)
        norms = walk.parameters.norms(x(walk.context), walk.position - 1)
        first = [applied(norm, x) for norm, _, _ in norms]
        for one in first if walk.is_cut_short else ():
            for again, _, _ in walk.parameters.norms(one(walk.context), walk.position - 1):
                yield _Way(applied(again, one), handed_on=True, ids=("final-norm-twice",), right=one)
        yield from (_Way(one, handed_on=True) for one in first)
        if walk.normed or _normed_rows(walk, x):
            yield _Way(x, handed_on=True)
    elif row.operation is None:
        blocks = {"second_block_output": 2, "last_block_output": walk.blocks}
        key = ("block_output", blocks[row.key]) if row.key in blocks else _latest(walk)
        yield _Way(stage_of(*key), handed_on=True)
    else:
        yield from (_Way(one) for one in _computed(walk, row, row.function))
        if row.key == "class_representation":
            after = _normed_rows(walk, stage_of("final_sequence", 0))
            yield from (_Way(one, ids=(_AFTER_READOUT,), right=one) for one in after)
        is_told = walk.is_cut_short and row.operation in EQUATIONS
        for known, wrong in catalogued(row.operation) if is_told else ():
            yield from (_Way(one, ids=(known.id,)) for one in _computed(walk, row, wrong))


def _normed_rows(walk: Walk, x: Predict) -> list[Predict]:
    """The class token of a sequence, normed by itself."""
    row = combine(class_representation, x)
    found = walk.parameters.norms(row(walk.context), walk.position - 1) if walk.is_cut_short else ()
    return [applied(norm, row) for norm, _, _ in found]


def _latest(walk: Walk) -> tuple[str, int]:
    return (walk.steps[-1].key, walk.steps[-1].block) if walk.steps else next(iter(walk.given))


def _computed(walk: Walk, row: Stage, function: Callable[..., Tensor] | None) -> Iterator[Predict]:
    """By a function of stages, where that reads nothing but these and sizes."""
    if function is None:
        return
    others = list(signature(function).parameters)[len(row.predecessors) :]
    if all(hasattr(walk.sizes, name) for name in others):
        read = [stage_of(key, 0) for key in row.predecessors]

        def predict(context: Context) -> Tensor:
            sizes = [getattr(context.sizes, name) for name in others]
            return function(*(one(context) for one in read), *sizes)

        yield predict


def _vectors(walk: Walk, row: Stage) -> Iterator[tuple[int, Reference]]:
    """What is in hand and is one vector an image, whatever the image."""
    for number, (_, reference) in enumerate(at_hand(walk.context)):
        if not walk.trace.value(reference).image and reference.shape == row.shape(walk.sizes):
            yield number, reference


def _in_hand(number: int) -> Predict:
    return lambda context: context.trace.tensor(at_hand(context)[number][1])


def went_on(walk: Walk, key: str) -> bool:
    """Does the pass use more weights beside the stages that were found than ``key``, the next one, needs?

    Then that stage was computed, in a way that could not be followed.
    """
    most = _MATRICES.get(key, 0) * (walk.sizes.heads if key in _PROJECTING else 1)
    return matrices_left(walk) > most
