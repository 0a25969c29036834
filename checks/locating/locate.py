"""The walk from the first stage to the last."""

from __future__ import annotations

from itertools import takewhile

from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ...submissions.host.trace import Trace, Use
from ..architecture.family import Family
from .anatomy import Input, anatomy_of
from .block import (
    settle_block,
    settle_made_up,
    settle_odd_input,
    settle_unexplained,
    settle_until_crash,
)
from .context import Context, Predict
from .model import about_model
from .resync.not_numbers import until_no_number
from .resync.reached import settle_reached
from .resync.taken import until_next_attention
from .walk import Walk, begin, stage_of

_BLOCKS_AT_MOST = 64


def locate(trace: Trace, sizes: ModelSizes, family: Family) -> Walk:
    """Finds every stage of a traced pass in the student's own tensors.

    ``trace`` must hold numbers, of a pass in float64 with random parameters. A stage that no known equation
    explains has a step with ``explained`` False; where the walk could not go on at all is in
    ``Walk.unexplained``, and why in ``Walk.lost`` where the pass gives no numbers there. Nothing is raised.
    """
    ended = until_no_number(trace, sizes)
    if ended is not None and ended.error is not None:
        walk = locate(ended, sizes, family)
        # what is returned is the scores, whatever the tensor was that they were made of
        walk.steps = list(takewhile(lambda step: step.key != "logits", walk.steps))
        walk.lost, walk.unexplained = ended.error.message, _next_stage(walk)
        return walk
    walk = _located(begin(trace, sizes, family))
    if trace.error is not None:
        settle_reached(walk)
    elif _lost(walk):
        return anatomy_of(walk.family).known_otherwise(walk) or walk
    return walk


def _next_stage(walk: Walk) -> tuple[str, int]:
    """The first stage that was not reached, or the last of all."""
    reached = {step.key for step in walk.steps}
    stages = walk.family.stages
    key = next((one.key for one in stages[1:] if one.key not in reached), stages[-1].key)
    return key, walk.steps[-1].block if walk.steps else 0


def _lost(walk: Walk) -> bool:
    """Is there a stage that could not be followed, or a block?"""
    unexplained = walk.unexplained is not None or not all(step.explained for step in walk.steps)
    return unexplained or walk.blocks < walk.sizes.depth


def _located(walk: Walk) -> Walk:
    trace = walk.trace
    if not anatomy_of(walk.family).embed(walk):
        return walk
    while walk.unexplained is None and walk.blocks < _BLOCKS_AT_MOST:
        if not _next_block(walk):
            break
    if walk.unexplained is None and not _readout(walk):
        if (
            trace.error is None
            and not _attention_follows(walk)
            and anatomy_of(walk.family).read_out_oddly(walk, _sequence(walk))
        ):
            about_model(walk)
            return walk
        if trace.error is not None and walk.blocks < walk.sizes.depth:
            settle_until_crash(walk, walk.blocks + 1, _sequence(walk))
        walk.stuck("block_input" if not walk.blocks else "last_block_output", walk.blocks + 1)
    about_model(walk)
    return walk


def _sequence(walk: Walk) -> Predict:
    return stage_of("block_output", walk.blocks) if walk.blocks else stage_of("positioned_tokens", 0)


def _next_block(walk: Walk) -> bool:
    """Another block, on what the last one returned; else the readout decides; else on something wrong."""
    number, x = walk.blocks + 1, _sequence(walk)
    if walk.gaps and settle_unexplained(walk, number, x):
        return True
    if settle_block(walk, number, [(x, ())]):
        return True
    if walk.unexplained is not None:
        return False
    if number > 1 and anatomy_of(walk.family).read_out(walk, [(x, ())], False):
        return False
    if settle_block(walk, number, _wrong_inputs(walk)):
        return True
    if walk.unexplained is not None or _readout(walk):
        return False
    if settle_unexplained(walk, number, x) or settle_made_up(walk, number, x):
        return True
    return _attention_follows(walk) and settle_odd_input(walk, number, x)


def _attention_follows(walk: Walk) -> bool:
    return walk.trace.error is None and until_next_attention(walk) < len(walk.trace.records)


def _wrong_inputs(walk: Walk) -> list[Input]:
    """What a block may read by mistake."""
    number, x = walk.blocks + 1, _sequence(walk)
    inputs: list[Input] = []
    if number == 1 and ("tokens", 0) in walk.context.stages:
        inputs.append((stage_of("tokens", 0), ("block-reads-stale-tokens",)))
    table = walk.roles.get("positions")
    if isinstance(table, Use):
        inputs.append((_with_positions(x, table), ("pos-every-block",)))
    if number > 1:
        inputs.append((stage_of("block_input", 1), ("every-block-reads-first-input",)))
    return inputs


def _with_positions(x: Predict, table: Use) -> Predict:
    def predict(context: Context) -> Tensor:
        sequence, positions = x(context), context.use(table)
        rows = positions.reshape(-1, sequence.shape[-1])
        return sequence + rows if len(rows) in (1, sequence.shape[1]) else sequence

    return predict


def _readout(walk: Walk) -> bool:
    """The class scores, from the last block or from what they may be read from by mistake."""
    if any(step.key == "logits" for step in walk.steps):
        return True
    right: list[Input] = [(_sequence(walk), ())]
    first = ("block-result-discarded",) if _each_reads_the_first(walk) else ("readout-before-encoder",)
    others: list[Input] = [(stage_of("positioned_tokens", 0), first)]
    others += [
        (stage_of("block_output", number), ("depth-off-by-one",)) for number in range(walk.blocks - 1, 0, -1)
    ]
    read_out = anatomy_of(walk.family).read_out
    return any(read_out(walk, inputs, wrong) for inputs in (right, others) for wrong in (False, True))


def _each_reads_the_first(walk: Walk) -> bool:
    """Do all blocks read what the first one reads? A lone block tells nothing."""
    ids = {finding.id for step in walk.steps for finding in step.findings}
    return walk.blocks < 2 or "every-block-reads-first-input" in ids
