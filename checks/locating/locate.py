"""The walk from S02 to S26."""

from __future__ import annotations

from torch import Tensor

from ...reference.sizes import Sizes
from ...submissions.trace import Trace
from .block import settle_block
from .context import Context, Predict
from .embedding import embedding
from .parameters import Norm
from .readout import settle_readout
from .walk import Walk, begin, stage_of

_BLOCKS_AT_MOST = 64


def locate(trace: Trace, sizes: Sizes) -> Walk:
    """Finds every stage of a traced pass in the student's own tensors.

    ``trace`` must hold numbers, of a pass in float64 with random parameters. What could not be
    explained is in ``Walk.unexplained``; nothing is raised for it.
    """
    walk = begin(trace, sizes)
    if not embedding(walk):
        walk.stuck("patch_embeddings" if ("patch_embeddings", 0) not in walk.context.stages else "tokens", 0)
        return walk
    while walk.unexplained is None and walk.blocks < _BLOCKS_AT_MOST:
        if not _next_block(walk):
            break
    if walk.unexplained is None and not _readout(walk):
        walk.stuck("block_input" if not walk.blocks else "last_block_output", walk.blocks + 1)
    if walk.unexplained is None:
        _about_blocks(walk)
    return walk


def _sequence(walk: Walk) -> Predict:
    return stage_of("block_output", walk.blocks) if walk.blocks else stage_of("positioned_tokens", 0)


def _next_block(walk: Walk) -> bool:
    """Another block, on what the last one returned; else the readout decides; else on something wrong."""
    number, x = walk.blocks + 1, _sequence(walk)
    if settle_block(walk, number, [(x, ())]):
        return True
    if walk.unexplained is not None:
        return False
    if number > 1 and settle_readout(walk, [(x, ())], wrong=False):
        return False
    return settle_block(walk, number, _wrong_inputs(walk))


def _wrong_inputs(walk: Walk) -> list[tuple[Predict, tuple[str, ...]]]:
    """What a block may read by mistake."""
    number, x = walk.blocks + 1, _sequence(walk)
    inputs: list[tuple[Predict, tuple[str, ...]]] = []
    table = walk.roles.get("positions")
    if table is not None and not isinstance(table, Norm):
        def with_positions(context: Context) -> Tensor:
            sequence = x(context)
            positions = context.use(table)  # type: ignore[arg-type]  # a use, as checked above
            fits = positions.numel() % sequence[0].numel() == 0
            return sequence + (positions.reshape(-1, *sequence.shape[1:])[0] if fits else 0)

        inputs.append((with_positions, ("pos-every-block",)))
    if number > 1:
        inputs.append((stage_of("block_input", 1), ("every-block-reads-first-input",)))
    return inputs


def _readout(walk: Walk) -> bool:
    """The class scores, from the last block or from what they may be read from by mistake."""
    if any(step.key == "logits" for step in walk.steps):
        return True
    inputs: list[tuple[Predict, tuple[str, ...]]] = [(_sequence(walk), ())]
    if settle_readout(walk, inputs, wrong=False):
        return True
    others = [(stage_of("positioned_tokens", 0), ("block-result-discarded",))]
    others += [(stage_of("block_output", number), ("depth-off-by-one",)) for number in range(walk.blocks - 1, 0, -1)]
    return (
        settle_readout(walk, inputs, wrong=True)
        or settle_readout(walk, others, wrong=False)
        or settle_readout(walk, others, wrong=True)
    )


def _about_blocks(walk: Walk) -> None:
    """Do two blocks hold different numbers?"""
    leaf = walk.parameters.leaf
    firsts = [walk.roles.get(f"block{number}.fc1") for number in range(1, walk.blocks + 1)]
    leaves = [leaf(one.weight) for one in firsts if one is not None and not isinstance(one, Norm) and hasattr(one, "weight")]
    if len(leaves) > 1 and len(set(leaves)) == 1:
        walk.note("blocks-share-one-instance", "second_block_output")
