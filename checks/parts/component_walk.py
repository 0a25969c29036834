"""A single component: the same walk as through a whole model, from the component's input to its output.

The input of the pass stands for the stage that the component reads, and what it returns is the last stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ...reference import equations as eq
from ...reference.components import COMPONENTS
from ...reference.model_sizes import ModelSizes
from ...submissions.host.trace import Trace, Use
from ..locating.block import (
    Reading,
    about_norm,
    candidates,
    choose,
    settle_block,
    settle_made_up,
    settle_unexplained,
)
from ..locating.context import Predict
from ..locating.forms import ACTIVATIONS, MLP_SUMS, NORMS
from ..locating.resync.gaps import as_heads, contexts, settle_gap
from ..locating.returned import Return, settle_mlp
from ..locating.search.relations import measured
from ..locating.steps.attention import (
    Output,
    outputs,
    right_attention,
    settle_attention,
    settle_projections,
    wrong_attention,
)
from ..locating.steps.mlp import find_mlp
from ..locating.walk import Walk, applied, begin_at, combine, right_of, stage_of
from ..vit.embedding import (
    TokenSequence,
    embeddings,
    replace_embeddings,
    settle_class_token,
    settle_positions,
)
from ..vit.patches import patch_embeddings
from ..vit.token_forms import POSITIONS, TOKENS, TOKENS_WITHOUT
from ..vit.vit import VIT

_CANDIDATES = 10  # parameters that could be the class token, or the positions

_GIVEN: dict[str, tuple[tuple[str, int], ...]] = {  # the stages that the input stands for
    "patch_embedding": (("image", 0),),
    "class_token": (("patch_embeddings", 0),),
    "positions": (("tokens", 0),),
    "layer_norm": (("positioned_tokens", 0),),
    "layer_norm_plain": (("positioned_tokens", 0),),
    "attention": (("positioned_tokens", 0), ("block_input", 1)),
    "mlp": (("positioned_tokens", 0),),
    "block": (("positioned_tokens", 0),),
}
_INPUT = stage_of("positioned_tokens", 0)


def locate_component(key: str, trace: Trace, sizes: ModelSizes) -> Walk:
    """Finds the stages of component ``key`` in a traced pass of it alone.

    As with a whole model, what no known equation explains has a step with ``explained`` False, or is in
    ``Walk.unexplained``. A returned tensor that is not the last stage makes that stage's step unexplained.
    """
    row = COMPONENTS[key]
    last, block = row.stages[-1], int(_WALKS[key] not in (_patches, _class_token, _positions))
    walk = begin_at(_GIVEN[key], trace, sizes, VIT)
    walk.lone = True
    path = _path_of_output(trace, row.output_shape(sizes))
    walk.end = None if path is None else _returned(path)(walk.context)
    if not _WALKS[key](walk):
        walk.unexplained = walk.unexplained or (row.stages[0] if trace.error else last, block)
    elif path is not None and not walk.ends_with(walk.context.stage(last, block)):
        _blame_end(walk, path)
    return walk


def _path_of_output(trace: Trace, shape: tuple[int, ...]) -> str | None:
    """What is returned in the right shape, else what is returned first."""
    right = [path for path, where in trace.outputs if where.shape == shape]
    return next(iter([*right, *(path for path, _ in trace.outputs)]), None)


def _returned(path: str) -> Predict:
    return lambda context: context.trace.tensor(dict(context.trace.outputs)[path])


def _blame_end(walk: Walk, path: str) -> None:
    """The last stage was computed, and something else was returned."""
    step, returned = walk.steps[-1], _returned(path)
    told = measured(returned(walk.context), step.predict(walk.context), walk.family.stage(step.key).axes)
    message = f"It is computed, and something else is returned. {told}"
    walk.steps[-1] = replace(
        step, predict=returned, right=step.predict, found=None, explained=False, message=message
    )


def _patches(walk: Walk) -> bool:
    if not patch_embeddings(walk):
        return False
    for predict, ids in list(embeddings(walk)):
        if walk.ends_with(predict(walk.context)):
            if ids:
                replace_embeddings(walk, TokenSequence(predict, ids, None, TOKENS[0]))
            break
    return True


def _class_token(walk: Walk) -> bool:
    x, B = stage_of("patch_embeddings", 0), walk.sizes.batch
    vectors = _parameters(walk, (1, B))
    choices = [TokenSequence(x, (), use, form) for form in TOKENS for use in vectors]
    choices += [TokenSequence(x, (), None, form) for form in TOKENS_WITHOUT]
    for choice in choices:
        if _ends(walk, choice.sequence):
            settle_class_token(walk, choice)
            return True
    return False


def _positions(walk: Walk) -> bool:
    T = walk.sizes.tokens
    tables = _parameters(walk, (T, T - 1, T + 1, 1, walk.sizes.batch, walk.sizes.batch * T))
    tokens = stage_of("tokens", 0)
    choices = [
        TokenSequence(tokens, (), None, TOKENS[0], (table,), form) for form in POSITIONS for table in tables
    ]
    for choice in [*choices, TokenSequence(tokens, (), None, TOKENS[0])]:
        if _ends(walk, choice.positioned):
            found = walk.find(choice.positioned(walk.context))
            if found is not None:
                settle_positions(walk, choice, found)
                return True
    return False


def _parameters(walk: Walk, rows: tuple[int, ...]) -> list[Use]:
    found = {use for count in rows for use in walk.parameters.of_size(count * walk.sizes.embed_dim)}
    return sorted(found)[:_CANDIDATES]


def _ends(walk: Walk, predict: Predict) -> bool:
    try:
        return walk.ends_with(predict(walk.context))
    except RuntimeError:  # sizes that do not go together: this is not what was done
        return False


def _norm(walk: Walk) -> bool:
    for table in (NORMS[:1], NORMS[1:]):
        for norm, result, found in walk.parameters.norms(_INPUT(walk.context), -1, table):
            if walk.ends_with(result):
                right = right_of(norm, _INPUT)
                ids = norm.ids
                walk.settle("post_attention_norm", 1, applied(norm, _INPUT), found, right=right, ids=ids)
                walk.roles["block1.norm2"] = norm
                return True
    return False


def _readings(walk: Walk) -> Iterator[Reading]:
    """The input as it is, then normed."""
    yield Reading(_INPUT, _INPUT, None, (), (), -1)
    for norm, _, _ in walk.parameters.norms(_INPUT(walk.context), -1):
        yield Reading(_INPUT, applied(norm, _INPUT), norm, (), ("norm-inside-component", *norm.ids), -1)


def _attention(walk: Walk) -> bool:
    readings = list(_readings(walk))
    choice = choose(walk, readings, right_attention) or choose(walk, readings, wrong_attention)
    if choice is None:
        return _unexplained_attention(walk, readings) or _until_crash(walk, readings)
    reading, attention = choice
    settle_attention(walk, 1, attention)
    about_norm(walk, 1, reading)
    return _attention_output(walk)


def _unexplained_attention(walk: Walk, readings: list[Reading]) -> bool:
    """Attention that no known equation gives, if its context leads to what is returned."""
    for reading in readings:
        heads = next((one for one in candidates(walk, reading) if one.id is None), None)
        if heads is None:
            continue
        walk.context.stages["query", 1] = heads.parts[0](walk.context)
        for taken in contexts(walk, 1):
            walk.context.stages["attention_context", 1] = as_heads(taken, 1)(walk.context)
            if any(_ends(walk, one.predict) for one in outputs(walk, 1)):
                settle_gap(walk, 1, heads, taken)
                about_norm(walk, 1, reading)
                return _attention_output(walk)
    return False


def _until_crash(walk: Walk, readings: list[Reading]) -> bool:
    """S09 to S11, where the pass stopped after them."""
    for reading in readings if walk.trace.error is not None else ():
        heads = next((one for one in candidates(walk, reading) if one.id is None), None)
        if heads is not None:
            settle_projections(walk, 1, heads)
            return True
    return False


def _attention_output(walk: Walk) -> bool:
    """S15: the cheapest way that is returned, alone or with a residual; else the cheapest."""
    ways = sorted(outputs(walk, 1), key=lambda one: one.price)
    if not ways:
        return False
    ends = next((one for one in ways if walk.ends_with(one.predict(walk.context))), None)
    added = next((one for one in ways if _ends(walk, _with_residual(one.predict))), None)
    chosen = ends or added or ways[0]
    ids = (*chosen.ids, "residual-inside-component") if added is chosen and ends is None else chosen.ids
    _settle_attention_output(walk, chosen, ids)
    return True


def _settle_attention_output(walk: Walk, chosen: Output, ids: tuple[str, ...]) -> None:
    predict, right = chosen.predict, chosen.right
    if "residual-inside-component" in ids:
        predict = _with_residual(predict)
    walk.settle("attention_output", 1, predict, walk.find(predict(walk.context)), right=right, ids=ids)
    if chosen.map is not None:
        walk.roles["block1.out"] = chosen.map


def _with_residual(predict: Predict) -> Predict:
    return combine(eq.residual, _INPUT, predict)


def _mlp(walk: Walk) -> bool:
    for reading in _readings(walk):
        mlp = find_mlp(walk, reading.normed, _INPUT, -1)
        if mlp is None:
            continue
        branch, ids = next(
            ((predict, ids) for predict, ids in _mlp_outputs(mlp.output) if _ends(walk, predict)),
            (mlp.output, ()),
        )
        found = walk.find(branch(walk.context))
        if found is None:
            return False
        choice = Return(branch, MLP_SUMS[0], branch, None, ids, 0.0, found)
        settle_mlp(walk, 1, mlp, choice)
        for name in reading.ids:
            walk.note_at(len(walk.steps) - 2, name, "mlp_hidden")
        if "residual-inside-component" in ids:
            walk.note("residual-inside-component", "mlp_output", found.record)
        return True
    return False


def _mlp_outputs(output: Predict) -> Iterator[tuple[Predict, tuple[str, ...]]]:
    """What an MLP may return: its output, that through an activation, or added to the input."""
    yield output, ()
    for activation in ACTIVATIONS:
        yield combine(activation.function, output), ("extra-activation-after-fc2",)
    yield _with_residual(output), ("residual-inside-component",)


def _block(walk: Walk) -> bool:
    settled = settle_block(walk, 1, [(_INPUT, ())])
    if settled or walk.unexplained is not None:
        return settled
    return settle_unexplained(walk, 1, _INPUT) or settle_made_up(walk, 1, _INPUT)


_WALKS: dict[str, Callable[[Walk], bool]] = {
    "patch_embedding": _patches,
    "class_token": _class_token,
    "positions": _positions,
    "layer_norm": _norm,
    "layer_norm_plain": _norm,
    "attention": _attention,
    "mlp": _mlp,
    "block": _block,
}
