"""What is said of the model as a whole, once its stages are settled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from .accounting import without_blocks
from .anatomy import anatomy_of
from .search.norms import Norm
from .search.parameter_search import LinearMap
from .steps import Finding
from .walk import Walk

DISCARDED = "block-result-discarded"


def about_image(walk: Walk) -> None:
    """Notes an image that the pass writes into."""
    if walk.steps and walk.trace.image.number:
        walk.note_at(0, "input-mutated-in-place", walk.family.input_key, walk.trace.image.number)


def about_model(walk: Walk) -> None:
    """Adds findings that compare stages, blocks and sizes with each other."""
    _about_width(walk)
    anatomy_of(walk.family).about(walk)
    if walk.blocks:
        _about_leaves(walk)
        _about_positions(walk)
    if walk.unexplained is None:
        _about_depth(walk)
    _each_once(walk)
    _without_blocks(walk)
    _about_implied(walk)


def _about_width(walk: Walk) -> None:
    """Notes a hidden layer that is not as wide as asked, unless another one is multiplied with it."""
    hidden = walk.context.stages.get(("mlp_hidden", 1))
    if hidden is None or "gated-mlp" in walk.ids:
        return
    if walk.context.stage("positioned_tokens").shape[-1] != walk.sizes.embed_dim:
        return
    if walk.sizes.mlp_dim not in hidden.shape[1:]:
        walk.note_on("mlp_hidden", 1, "mlp-ratio-wrong")


def _about_positions(walk: Walk) -> None:
    """What is added before every block is added twice before the first."""
    instead = Finding("pos-every-block", "block_input", None)
    if instead.id in walk.ids:
        for at, step in enumerate(walk.steps):
            named = (instead if one.id == "pos-added-twice" else one for one in step.findings)
            walk.steps[at] = replace(step, findings=tuple(named))


def _about_leaves(walk: Walk) -> None:
    """Notes blocks that share their numbers, all of them or a layer's, or hide them from the model."""
    weights = _weights(walk)
    shared = {role for role, leaves in weights.items() if len(set(leaves)) == 1}
    if walk.blocks > 1 and shared:
        is_whole = shared == weights.keys()
        name = "blocks-share-one-instance" if is_whole else "layer-shared-by-blocks"
        walk.note(name, "second_block_output")
    leaves = weights.get("fc1", [])
    if any(kind == "leaf" and walk.trace.leaves[number].kind == "tensor" for kind, number, _ in leaves):
        walk.note("blocks-in-python-list", "model")


def _weights(walk: Walk) -> Mapping[str, Sequence[tuple[str, int, int]]]:
    """What every block reads of weights, by the role that they have there."""
    found = defaultdict[str, list[tuple[str, int, int]]](list)
    for name, player in walk.roles.items():
        block, _, role = name.partition(".")
        if block.startswith("block") and isinstance(player, (LinearMap, Norm)) and player.weight is not None:
            found[role].append(walk.parameters.leaf(player.weight))
    return {role: leaves for role, leaves in found.items() if len(leaves) == walk.blocks}


def _about_depth(walk: Walk) -> None:
    if 0 < walk.blocks < walk.sizes.depth:  # where none runs, another thing is wrong
        walk.note_on("last_block_output", 0, "depth-off-by-one")


def _about_implied(walk: Walk) -> None:
    """Says of a stage that is no tensor by which later one it is known."""
    later = ""
    for position, step in reversed(list(enumerate(walk.steps))):
        if step.found is not None:
            later = walk.family.stage(step.key).label
        elif later and step.explained:
            told = f"Not a tensor of its own; inferred from {later}."
            walk.steps[position] = replace(step, message=told)


def _without_blocks(walk: Walk) -> None:
    """Where there is no block, none is left out: all but the input of the first is still to come."""
    if not without_blocks(walk):
        return
    for position, step in enumerate(walk.steps):
        kept = tuple(one for one in step.findings if one.id != DISCARDED)
        if kept != step.findings:
            walk.steps[position] = replace(step, findings=kept, right=step.predict)
    position = next(at for at, step in enumerate(walk.steps) if step.key == "positioned_tokens")
    tokens = walk.steps[position]
    walk.settle("block_input", 1, tokens.predict, tokens.found)
    walk.steps.insert(position + 1, walk.steps.pop())


def _each_once(walk: Walk) -> None:
    """Where no block's result is used at all, that is what is wrong, and not what each of them reads."""
    if DISCARDED not in walk.ids:
        return
    for position, step in enumerate(walk.steps):
        kept = tuple(one for one in step.findings if one.id != "every-block-reads-first-input")
        if kept != step.findings:
            walk.steps[position] = replace(step, findings=kept, right=step.predict)
