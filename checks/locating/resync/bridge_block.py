"""Going on in a block whose norms, sums or MLP no known equation explains: the graph says what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from ....reference import equations as eq
from ..context import Predict
from ..forms import ACTIVATIONS
from ..search.nearness import same
from ..search.norms import BatchNorm, Norm
from ..search.relations import measured
from ..steps.attention import outputs
from ..steps.mlp import Mlp, find_mlp
from ..walk import Walk, applied, combine, right_of, stage_of
from .taken import (
    Taken,
    earlier_stages,
    likely_map,
    likely_norm,
    operand,
    sequences,
    settle_odd,
    until_next_attention,
)

_FindMlp = Callable[[Walk, Predict, int], Mlp | None]


@dataclass(frozen=True)
class MlpInput:
    """What the MLP reads: ``predict``, a right norm of ``sum`` or, without a norm, something else."""

    predict: Predict
    sum: Predict
    norm: Norm | BatchNorm | None
    record: Taken | None  # that made the sum; None where the sum is right
    after: int
    mlp: Mlp


def settle_odd_half(walk: Walk, number: int, normed: Predict) -> MlpInput | None:
    """Settles S15 and S16 where something in them or in the MLP is unknown; ``normed`` is LayerNorm(S08)."""
    for find in (find_known_mlp, find_odd_mlp):
        found = next(_mlp_inputs(walk, number, normed, find), None)
        if found is not None:
            branch = _settle_attention_output(walk, number, found)
            _settle_normed_sum(walk, number, found, normed, branch)
            return found
    return None


def find_known_mlp(walk: Walk, x: Predict, after: int) -> Mlp | None:
    """An MLP that known equations explain, which reads ``x``."""
    return find_mlp(walk, x, x, after)


def find_odd_mlp(walk: Walk, x: Predict, after: int) -> Mlp | None:
    """A linear map of ``x``, anything of the hidden layer's size after it, and a linear map of that."""
    T, D = walk.context.stage("positioned_tokens").shape[1:]
    until = until_next_attention(walk)
    for first, inner, found in walk.parameters.linears(x(walk.context), after):
        if found.record >= until:
            continue
        for taken, hidden in sequences(walk, inner.shape[-1], T, until):
            if taken.record < found.record or same(hidden(walk.context), inner):
                continue
            for second, _, _ in walk.parameters.linears(hidden(walk.context), taken.record - 1, D):
                return Mlp(x, first, second, ACTIVATIONS[0], made=hidden)
    return None


def _mlp_inputs(walk: Walk, number: int, normed: Predict, find: _FindMlp) -> Iterator[MlpInput]:
    """Norms of anything, then anything, that an MLP reads before the next attention."""
    known = _known_sum(walk, number)
    if known is not None:
        yield from _normed(walk, known, walk.position - 1, None, find)
    T, D = walk.context.stage("positioned_tokens").shape[1:]
    after = list(sequences(walk, D, T, until_next_attention(walk)))
    for taken, predict in after:
        yield from _normed(walk, predict, taken.record - 1, taken, find)
    for taken, predict in after:
        mlp = find(walk, predict, taken.record - 1)
        if mlp is not None:
            yield MlpInput(predict, known or predict, None, None if known else taken, taken.record - 1, mlp)


def _normed(walk: Walk, sum_: Predict, after: int, taken: Taken | None, find: _FindMlp) -> Iterator[MlpInput]:
    for norm, _, found in walk.parameters.norms(sum_(walk.context), after):
        mlp = find(walk, applied(norm, sum_), found.record - 1)
        if mlp is not None:
            yield MlpInput(applied(norm, sum_), sum_, norm, taken, found.record - 1, mlp)


def _known_sum(walk: Walk, number: int) -> Predict | None:
    """S08 and a known S15 added, if that was computed."""
    x = stage_of("block_input", number)
    for output in outputs(walk, number):
        sum_: Predict = combine(eq.residual, x, output.predict)
        if output.map is not None and walk.find(sum_(walk.context)):
            return sum_
    return None


def _settle_attention_output(walk: Walk, number: int, found: MlpInput) -> Predict | None:
    """S15: the known one, what was added in its place, or else what a map of its size would have given."""
    known = next((one for one in outputs(walk, number) if one.map is not None), None)
    width = walk.context.stage("positioned_tokens").shape[-1]
    x = stage_of("block_input", number)
    right: Predict = _guess_output(walk, number, width) if known is None else known.predict
    added = None if found.record is None else operand(walk, found.record, right, width)
    if known is None:
        difference: Predict = combine(torch.sub, found.sum, x)
        settle_odd(walk, "attention_output", number, added or difference, right)
    elif added is None:
        place = walk.find(known.predict(walk.context))
        walk.settle("attention_output", number, known.predict, place, right=known.right, ids=known.ids)
    else:
        settle_odd(walk, "attention_output", number, added, known.right)
    if known is not None and known.map is not None:
        walk.roles[f"block{number}.out"] = known.map
    return added


def _guess_output(walk: Walk, number: int, width: int) -> Predict:
    """The heads side by side, through the next map of that size."""
    merged: Predict = combine(eq.merge_heads, stage_of("attention_context", number))
    map_ = likely_map(walk, merged(walk.context).shape[-1], width, walk.position)
    return merged if map_ is None else applied(map_, merged)


def _settle_normed_sum(
    walk: Walk, number: int, found: MlpInput, normed: Predict, added: Predict | None
) -> None:
    """S16, and what was measured of its sum or of its norm."""
    right_sum: Predict = combine(
        eq.residual, stage_of("block_input", number), stage_of("attention_output", number)
    )
    x, expected, read = (one(walk.context) for one in (found.sum, right_sum, found.predict))
    norm = found.norm or likely_norm(walk, x, read, found.after if found.record else walk.position)
    right = right_sum if norm is None else right_of(norm, right_sum)
    if found.norm is not None:
        walk.roles[f"block{number}.norm2"] = found.norm
    if same(read, right(walk.context)):
        walk.settle("post_attention_norm", number, found.predict, walk.find(read), right=right)
        return
    message = None
    if found.norm is not None:
        earlier = {
            **earlier_stages(walk, "post_attention_norm", number, x),
            "LayerNorm(S08)": normed(walk.context),
        }
        message = measured(x, expected, "B T D", earlier, part="Before its norm")
    settle_odd(walk, "post_attention_norm", number, found.predict, right, message)
