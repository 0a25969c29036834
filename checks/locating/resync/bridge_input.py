"""Going on into a block whose input or first norm no known equation explains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..context import Predict
from ..heads import Heads
from ..search.norms import BatchNorm, Norm
from ..search.relations import measured
from ..steps.projections import arrangements, projected
from ..walk import Walk, applied, right_of
from .taken import Taken, likely_norm, sequences, settle_odd, until_next_attention


@dataclass(frozen=True)
class OddInput:
    """What a block's projections read: ``normed``, or ``input`` in place of the last block's output."""

    input: Predict  # S08
    normed: Predict
    norm: Norm | BatchNorm | None
    candidates: list[Heads]
    after: int
    replaces: bool  # is it the input that is unknown?
    message: str = ""


def odd_inputs(walk: Walk, number: int, x: Predict) -> Iterator[OddInput]:
    """Every tensor before the next attention that a norm or the projections read."""
    T, D = walk.context.stage("positioned_tokens").shape[1:]
    after = list(sequences(walk, D, T, until_next_attention(walk)))
    for taken, predict in after:
        for norm, _, found in walk.parameters.norms(predict(walk.context), taken.record - 1):
            yield _normed(walk, x, taken, predict, norm, found.record - 1)
    for taken, predict in after:
        yield _unnormed(walk, x, predict, taken.record - 1)


def _normed(
    walk: Walk, x: Predict, taken: Taken, odd: Predict, norm: Norm | BatchNorm, after: int
) -> OddInput:
    normed = applied(norm, odd)
    if not _read_after(walk, x, taken):
        return OddInput(odd, normed, norm, _heads(walk, normed, None, after), after, replaces=True)
    told = measured(odd(walk.context), x(walk.context), "B T D", part="Before its norm")
    candidates = _heads(walk, normed, right_of(norm, x), after)
    return OddInput(x, normed, norm, candidates, after, replaces=False, message=told)


def _unnormed(walk: Walk, x: Predict, odd: Predict, after: int) -> OddInput:
    """What the projections read is no known norm."""
    norm = likely_norm(walk, x(walk.context), odd(walk.context), walk.position)
    right = x if norm is None else applied(norm, x)
    part = "What the projections read is not LayerNorm(S08):"
    told = measured(odd(walk.context), right(walk.context), "B T D", {"S08": x(walk.context)}, part)
    return OddInput(x, odd, norm, _heads(walk, odd, right, after), after, replaces=False, message=told)


def _read_after(walk: Walk, x: Predict, taken: Taken) -> bool:
    """Does a residual read the old tensor behind the place where a new one took over?"""
    found = walk.places.find(x(walk.context))
    later = walk.trace.records[taken.record + 1 :]
    return found is not None and any(
        (one.kind, one.number) == ("record", found.record) for record in later for one in record.inputs
    )


def _heads(walk: Walk, normed: Predict, right: Predict | None, after: int) -> list[Heads]:
    """Ways to see query, key and value, with what the right norm would have given."""
    maps = projected(walk, normed, after)
    if not maps:
        return []
    found = list(arrangements(walk, maps))
    if right is None:
        return found
    others = arrangements(walk, [replace(one, predict=applied(one.map, right)) for one in maps])
    return [replace(heads, right=other.parts) for heads, other in zip(found, others)]


def settle_replaced(walk: Walk, number: int, odd: Predict) -> None:
    """What the block before gave was right, and the pass went on with something else."""
    before = walk.steps.pop()
    settle_odd(walk, before.key, before.block, odd, before.predict)


def blame_norm(walk: Walk, number: int, odd: OddInput) -> None:
    """What is wrong with the norm is said of the query, once."""
    if odd.replaces:
        return
    for position, step in enumerate(walk.steps):
        if step.block == number and step.key == "query":
            walk.steps[position] = replace(step, explained=False, message=odd.message)
        elif step.block == number and step.key in ("key", "value"):
            walk.steps[position] = replace(step, right=step.predict)
