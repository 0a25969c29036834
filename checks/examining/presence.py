"""Which stages a submission has, and which of the others it lacks by right.

A stage is absent by right where the recognised architecture, which is one that the assignment accepts, has no
such stage; so is the output of the second block where the code has one block alone, and no sizes are asked.
Any other that was not found is wrong, or was not reached: whether the code does without it or hides it,
nothing was seen that earns its points.
"""

from __future__ import annotations

from .passes.examples import Examples

_SECOND = "second_block_output"


def absent(examples: Examples) -> frozenset[str]:
    """Keys of stages that are not there by right."""
    if examples.architecture is None or examples.is_foreign:
        return frozenset()
    family = examples.family
    rows = family.blocks.get(examples.architecture, family.stages)
    there = {row.key for row in rows} | {step.key for step in examples.walk.steps}
    if examples.walk.blocks == examples.first_draw.sizes.depth == 1 and not examples.assignment.asks_sizes:
        there.discard(_SECOND)
    return frozenset(key for key in examples.keys if key not in there)


def missing(examples: Examples, absent: frozenset[str]) -> dict[str, int]:
    """Stages that were not found in a pass that came to its end: by key, in order, the first block without.

    A stage of a block is there only if every block has it; outside of blocks the number is 0. Those that are
    ``absent`` by right are left out.
    """
    if examples.crash is not None:
        return {}
    seen = {(step.key, step.block) for step in examples.walk.steps}
    in_blocks = {key for key, block in seen if block}
    last = max((block for _, block in seen), default=0)
    found: dict[str, int] = {}
    for key in examples.keys:
        wanted = range(1, last + 1) if key in in_blocks else [0]
        lacking = [block for block in wanted if (key, block) not in seen]
        if lacking and key not in absent:
            found[key] = lacking[0]
    return found
