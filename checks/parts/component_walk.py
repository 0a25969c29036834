"""A single component: the same walk as through a whole model, from the component's input to its output.

The input of the pass stands for the stage that the component reads, and what it returns is the last stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import torch

from ...reference.components import COMPONENTS, Component
from ...reference.model_sizes import ModelSizes
from ...submissions.host.trace import Trace, Use
from ..locating.best_first import UNKNOWN, Node, Option, done, explain
from ..locating.context import Predict
from ..locating.following import following, one_block, stacked
from ..locating.forms import NORMS
from ..locating.model import about_model
from ..locating.reached import leave_to_come
from ..locating.search.relations import measured
from ..locating.steps import Made
from ..locating.walk import Walk, applied, begin_at, combine, right_of, stage_of, whole_input
from ..locating.wiring.branches import MLP, attention
from ..locating.wiring.operators import SameRow
from ..locating.wiring.rows import Computation, Row
from ..vit.class_token import settle_class_token
from ..vit.embedding import embedding, replace_embeddings, settle_positions, tokens_and_positions
from ..vit.patches import patch_embeddings, patches_alone
from ..vit.token_forms import POSITIONS, TOKENS, TOKENS_WITHOUT
from ..vit.token_sequences import PLAIN, Embedded, TokenSequence, embeddings
from ..vit.unknown_embedding import unknown_patches
from ..vit.vit_family import VIT
from .stack_and_head import SOMETHING_ELSE, end_of_stack, head_of_one, head_of_tokens

_CANDIDATES = 10  # parameters that could be the class token, or the positions

_GIVEN: dict[str, tuple[tuple[str, int], ...]] = {  # the stages that the input stands for
    "patches": (("image", 0),),
    "patch_embedding": (("image", 0),),
    "embedding": (("image", 0),),
    "class_token": (("patch_embeddings", 0),),
    "positions": (("tokens", 0),),
    "layer_norm": (("positioned_tokens", 0),),
    "layer_norm_plain": (("positioned_tokens", 0),),
    "attention": (("positioned_tokens", 0), ("block_input", 1)),
    "attention_head": (("positioned_tokens", 0), ("block_input", 1)),
    "dot_product_attention": (("query", 1), ("key", 1), ("value", 1)),  # each of its inputs is one
    "mlp": (("positioned_tokens", 0),),
    "block": (("positioned_tokens", 0),),
    "encoder": (("positioned_tokens", 0),),
    "encoder_and_head": (("positioned_tokens", 0),),
    "model_of_patches": (("patch_embeddings", 0),),
    "head": (("last_block_output", 0),),
    "classifier": (("last_block_output", 0),),
}
_OF_BLOCKS = ("encoder", "encoder_and_head", "model_of_patches")
_IN_BLOCK = (
    *("layer_norm", "layer_norm_plain", "attention", "attention_head", "dot_product_attention"),
    *("mlp", "block"),
)
_INPUT = stage_of("positioned_tokens", 0)
_READ = "What it reads:"


def locate_component(key: str, trace: Trace, sizes: ModelSizes, accepted: frozenset[str]) -> Walk:
    """Finds the stages of component ``key`` in a traced pass of it alone; a block is rather ``accepted``.

    As with a whole model, what no known equation explains has a step with ``explained`` False, or is in
    ``Walk.unexplained``. A returned tensor that is not the last stage makes that stage's step unexplained.
    """
    row = COMPONENTS[key]
    last, block = row.stages[-1], int(key in _IN_BLOCK)
    walk = begin_at(_given(row), trace, sizes, VIT)
    walk.accepted = accepted
    paths = _paths_of_output(trace, row.output_shape(sizes))
    walk.ends = tuple(_returned(one)(walk.context) for one in paths)
    done = key in _SETTLED and _SETTLED[key](walk)
    if not done and key in _NODES:
        walk, done = explain(walk, _NODES[key])
    if trace.begun:
        leave_to_come(walk)
    if key in _OF_BLOCKS:
        about_model(walk)
    if not done:
        walk.unexplained = walk.unexplained or (row.stages[0] if trace.error else last, block)
    elif paths and not any(
        walk.ends_with(step.predict(walk.context)) for step in walk.steps if step.key in (last, *row.also)
    ):
        _blame_end(walk, paths[0])
    return walk


def _given(row: Component) -> dict[tuple[str, int], Predict]:
    places = _GIVEN[row.key]
    if row.inputs > 1:
        return {place: _of_stack(number) for number, place in enumerate(places)}
    return dict.fromkeys(places, whole_input)


def _of_stack(number: int) -> Predict:
    return lambda context: context.image[number]


def _paths_of_output(trace: Trace, shape: tuple[int, ...]) -> list[str]:
    """What is returned in the right shape, else what is returned first."""
    right = [path for path, where in trace.outputs if where.shape == shape]
    return right or [path for path, _ in trace.outputs][:1]


def _returned(path: str) -> Predict:
    return lambda context: context.trace.tensor(dict(context.trace.outputs)[path])


def _blame_end(walk: Walk, path: str) -> None:
    """The last stage was computed, and something else was returned."""
    step, returned = walk.steps[-1], _returned(path)
    told = measured(returned(walk.context), step.predict(walk.context), walk.family.stage(step.key).axes)
    message = f"Your code computes this stage, but returns something else. {told}"
    walk.steps[-1] = replace(
        step, predict=returned, right=step.predict, found=None, explained=False, message=message
    )


def _patches(walk: Walk) -> bool:
    if not patch_embeddings(walk):
        return False
    for embedded in list(embeddings(walk)):
        if walk.ends_with(embedded.predict(walk.context)):
            if embedded.ids:
                replace_embeddings(walk, TokenSequence(embedded, None, TOKENS[0]))
            break
    return True


def _class_token(walk: Walk) -> bool:
    x, vectors = PLAIN, _parameters(walk, (1, walk.sizes.batch))
    choices = [TokenSequence(x, use, form) for form in TOKENS for use in vectors]
    choices += [TokenSequence(x, None, form) for form in TOKENS_WITHOUT]
    for choice in choices:
        if _ends(walk, choice.sequence):
            settle_class_token(walk, choice)
            return True
    tables = _tables(walk)
    return any(_with_positions(walk, choice, tables) for choice in choices)


def _with_positions(walk: Walk, choice: TokenSequence, tables: Sequence[Use]) -> bool:
    """Class token and positions in one."""
    for form, table in product(POSITIONS, tables):
        both = replace(choice, table=(table,), positions=form)
        if _ends(walk, both.whole) and (found := walk.find(both.whole(walk.context))) is not None:
            settle_class_token(walk, choice)
            settle_positions(walk, both, found)
            return True
    return False


def _tables(walk: Walk) -> list[Use]:
    T = walk.sizes.tokens
    return _parameters(walk, (T, T - 1, T + 1, 1, walk.sizes.batch, walk.sizes.batch * T))


def _positions(walk: Walk) -> bool:
    tokens = Embedded(stage_of("tokens", 0))
    choices = [
        TokenSequence(tokens, None, TOKENS[0], (table,), form)
        for form, table in product(POSITIONS, _tables(walk))
    ]
    for choice in [*choices, TokenSequence(tokens, None, TOKENS[0])]:
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
    return done(lambda one: one.ends_with(predict(one.context)), walk)


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


@dataclass(frozen=True, kw_only=True)
class _Input(SameRow):
    """What the component is given. A norm of it is the block's, and not the component's own."""

    def wrong(self, walk: Walk) -> Iterator[Computation]:
        for norm, _, _ in walk.parameters.norms(_INPUT(walk.context), -1):
            yield Computation(Made(applied(norm, _INPUT), _INPUT), 1.0, ("norm-inside-component", *norm.ids))


def _end(key: str, block: int = 1) -> Node:
    """What is returned: the last stage, that added to the input, or something else."""

    def added(walk: Walk) -> bool:
        step = walk.steps[-1]
        predict: Predict = combine(torch.add, _INPUT, step.predict)
        if not _ends(walk, predict):
            return False
        walk.steps.pop()
        ids = (*(one.id for one in step.findings), "residual-inside-component")
        found = walk.find(predict(walk.context))
        walk.settle(key, step.block, predict, found, right=step.right, ids=ids)
        return True

    return lambda _: iter(
        (
            Option(0.0, lambda walk: walk.ends_with(walk.context.stage(key, block))),
            Option(1.0, added),
            Option(SOMETHING_ELSE, lambda walk: True),
        )
    )


def _end_of_context(_: Walk) -> Iterator[Option]:
    """What is returned: S14, or something else; what an unknown step before it has made of it is S14, too."""
    yield Option(0.0, lambda walk: walk.ends_with(walk.context.stage("attention_context", 1)))
    yield Option(UNKNOWN + SOMETHING_ELSE, lambda walk: True)


_OF_ATTENTION = _Input(key="normed_input", stage="query", part=_READ, reads=("positioned_tokens",))
_CONTEXT = 1 + [one.key for one in attention()].index("attention_context")


def _along(*rows: Row, end: Node | None = None) -> tuple[Node, ...]:
    return *(one.node for one in rows), end or _end(rows[-1].key)


_SETTLED: dict[str, Callable[[Walk], bool]] = {
    "patches": patches_alone,
    "patch_embedding": _patches,
    "class_token": _class_token,
    "positions": _positions,
    "layer_norm": _norm,
    "layer_norm_plain": _norm,
    "head": head_of_tokens,
    "classifier": head_of_one,
}
_NODES: dict[str, tuple[Node, ...]] = {
    "patch_embedding": (unknown_patches,),  # where they are none of the known ones
    "embedding": (embedding, _end("positioned_tokens", 0)),
    "attention": _along(_OF_ATTENTION, *attention()),
    "attention_head": _along(_OF_ATTENTION, *attention()[:_CONTEXT], end=_end_of_context),
    "dot_product_attention": _along(*attention()[1:_CONTEXT], end=_end_of_context),
    "mlp": _along(
        _Input(key="post_attention_norm", stage="mlp_hidden", part=_READ, reads=("positioned_tokens",)), *MLP
    ),
    "block": (one_block, _end("block_output")),
    "encoder": (stacked(end_of_stack),),
    "encoder_and_head": (following,),
    "model_of_patches": (tokens_and_positions, following),
}
