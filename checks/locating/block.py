"""One encoder block: what it reads, its attention, its residuals and norms, its MLP, what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...reference import equations as eq
from .context import Predict
from .forms import ATTENTION_SUMS, NORMS, Form
from .heads import Attention, Heads
from .resync.bridge_block import settle_odd_half
from .resync.bridge_input import blame_norm, odd_inputs, settle_replaced
from .resync.gaps import as_heads, contexts, settle_gap
from .resync.reached import was_cut
from .resync.taken import settle_odd
from .returned import settle_output
from .search.norms import BatchNorm, Norm
from .search.places import Found
from .steps.attention import (
    Output,
    implied_outputs,
    outputs,
    right_attention,
    settle_attention,
    settle_projections,
    wrong_attention,
)
from .steps.implied import implied_attention
from .steps.made_up import blame_drawn, drawn_heads
from .steps.mlp import find_mlp
from .steps.odd_projections import raw_keys, shared_slices, unprojected_values
from .steps.projections import arrangements, projected
from .walk import Walk, applied, combine, right_of, stage_of


@dataclass(frozen=True)
class Reading:
    """What the projections read: the block's input, normed or not."""

    input: Predict  # S08
    normed: Predict
    norm: Norm | BatchNorm | None
    input_ids: tuple[str, ...]  # of how the block got its input
    ids: tuple[str, ...]  # of the norm
    after: int


def settle_block(walk: Walk, number: int, inputs: list[tuple[Predict, tuple[str, ...]]]) -> bool:
    """Settles S08 to S20 of a block. False, with nothing settled, where it is no block at all.

    ``inputs`` are what the block may read, the right one first, each with the ids of what is wrong about it.
    """
    readings = [reading for x, ids in inputs for reading in _readings(walk, number, x, ids)]
    choice = (
        choose(walk, readings, right_attention)
        or _implied(walk, readings)
        or choose(walk, readings, wrong_attention)
    )
    if choice is None:
        wrong = [reading for x, ids in inputs[:1] for reading in _wrong_readings(walk, x, ids)]
        choice = choose(walk, wrong, right_attention) or choose(walk, wrong, wrong_attention)
    if choice is None:
        return False
    reading, attention = choice
    _settle_input(walk, number, reading)
    settle_attention(walk, number, attention)
    about_norm(walk, number, reading)
    return _settle_rest(walk, number, reading)


def settle_unexplained(walk: Walk, number: int, x: Predict) -> bool:
    """Settles a block whose attention no known equation explains, if its residual sums lead on."""
    for reading in _readings(walk, number, x, ()):
        heads = _multiplied(walk, [one for one in candidates(walk, reading) if one.id is None])
        if heads is None:
            continue
        walk.context.stages["block_input", number] = reading.input(walk.context)
        walk.context.stages["query", number] = heads.parts[0](walk.context)
        for context in contexts(walk, number):
            walk.context.stages["attention_context", number] = as_heads(context, number)(walk.context)
            if _leads_on(walk, number, reading):
                _settle_input(walk, number, reading)
                settle_gap(walk, number, heads, context)
                about_norm(walk, number, reading)
                return _settle_rest(walk, number, reading)
    return False


def _multiplied(walk: Walk, candidates: list[Heads]) -> Heads | None:
    """The way to see the heads whose queries and keys were multiplied, else the usual one."""
    for heads in candidates:
        q, k = heads.parts[0](walk.context), heads.parts[1](walk.context)
        if q.shape == k.shape and any(walk.find(one) for one in (eq.attention_scores(q, k), q @ k.mT)):
            return heads
    return next(iter(candidates), None)


def settle_made_up(walk: Walk, number: int, x: Predict) -> bool:
    """Settles a block whose query, key and value are random numbers, or go back to none of its input."""
    heads = drawn_heads(walk)
    if heads is None:
        return False
    reading = next(_readings(walk, number, x, ()))
    places, parameters = walk.places, walk.parameters
    walk.look_everywhere()
    attention = right_attention(walk, [heads]) or wrong_attention(walk, [heads])
    if attention is None:
        walk.places, walk.parameters = places, parameters
        return False
    _settle_input(walk, number, reading)
    settle_attention(walk, number, attention)
    blame_drawn(walk, number)
    return _settle_rest(walk, number, reading)


def settle_odd_input(walk: Walk, number: int, x: Predict) -> bool:
    """Settles a block that reads something unknown in place of ``x`` or of its norm."""
    for odd in odd_inputs(walk, number, x):
        attention = right_attention(walk, odd.candidates)
        if attention is not None:
            if odd.replaces:
                settle_replaced(walk, number, odd.input)
            reading = Reading(odd.input, odd.normed, odd.norm, (), (), odd.after)
            _settle_input(walk, number, reading)
            settle_attention(walk, number, attention)
            blame_norm(walk, number, odd)
            return _settle_rest(walk, number, reading)
    return False


def settle_until_crash(walk: Walk, number: int, x: Predict) -> None:
    """Settles what a block had come to when its pass stopped: S08 to S11, if they were reached."""
    for reading in _readings(walk, number, x, ()):
        heads = next((one for one in candidates(walk, reading) if one.id is None), None)
        if heads is not None:
            _settle_input(walk, number, reading)
            if was_cut(walk, heads.parts[2]):
                settle_projections(walk, number, heads)
                about_norm(walk, number, reading)
            return


def _readings(walk: Walk, number: int, x: Predict, ids: tuple[str, ...]) -> Iterator[Reading]:
    """Right norms of ``x`` first, a norm before the first block, then ``x`` itself."""
    after = walk.position - 1
    for norm, _, found in walk.parameters.norms(x(walk.context), after):
        yield Reading(x, applied(norm, x), norm, ids, norm.ids, after)
        if number == 1:
            y = applied(norm, x)
            for inner, _, _ in walk.parameters.norms(y(walk.context), found.record - 1):
                extra = (*ids, "extra-norm-before-encoder")
                yield Reading(y, applied(inner, y), inner, extra, inner.ids, found.record - 1)
    yield Reading(x, x, None, ids, ("norm1-skipped",), after)


def _wrong_readings(walk: Walk, x: Predict, ids: tuple[str, ...]) -> Iterator[Reading]:
    after = walk.position - 1
    for norm, _, _ in walk.parameters.norms(x(walk.context), after, NORMS[1:]):
        yield Reading(x, applied(norm, x), norm, ids, norm.ids, after)


def choose(
    walk: Walk, readings: list[Reading], search: Callable[[Walk, list[Heads]], Attention | None]
) -> tuple[Reading, Attention] | None:
    """The first reading from which ``search`` finds a way to the context."""
    for reading in readings:
        found = candidates(walk, reading)
        attention = search(walk, found) if found else None
        if attention is not None:
            return reading, attention
    return None


def _implied(walk: Walk, readings: list[Reading]) -> tuple[Reading, Attention] | None:
    for reading in readings:
        attention = implied_attention(walk, reading.input, reading.normed, reading.after)
        if attention is not None:
            return reading, attention
    return None


def candidates(walk: Walk, reading: Reading) -> list[Heads]:
    """Every way to see query, key and value in what the projections read."""
    maps = projected(walk, reading.normed, reading.after)
    found = list(arrangements(walk, maps)) if maps else []
    if reading.norm is not None:
        found += shared_slices(walk, reading.normed, reading.after)
        found += unprojected_values(walk, maps, reading.normed)
        found += raw_keys(walk, maps, reading.input, reading.normed, reading.after)
    return found


def _settle_input(walk: Walk, number: int, reading: Reading) -> None:
    previous = stage_of("positioned_tokens", 0) if number == 1 else stage_of("block_output", number - 1)
    x = reading.input(walk.context)
    blame = "second_block_output" if number > 1 else None  # S21 is where blocks are first put together
    found = walk.places.find(x)
    walk.settle(
        "block_input", number, reading.input, found, right=previous, ids=reading.input_ids, blame=blame
    )
    if reading.norm is not None:
        walk.roles[f"block{number}.norm1"] = reading.norm


def about_norm(walk: Walk, number: int, reading: Reading) -> None:
    """A mistake in norm1 is the query's: its input is not LayerNorm(S08)."""
    for position, step in enumerate(walk.steps):
        if step.key == "query" and step.block == number:
            for name in reading.ids:
                walk.note_at(position, name, "query")


def _settle_rest(walk: Walk, number: int, reading: Reading) -> bool:
    """From S15 on; the first way that leads to an MLP is taken, right ones first."""
    for choice in _ways(walk, number, reading):
        mlp = find_mlp(walk, choice.mlp_input, choice.raw, choice.after)
        if mlp is not None:
            _settle_half(walk, number, choice)
            return settle_output(walk, number, mlp, choice.raw, reading.norm is not None)
    if _replace_context(walk, number, reading):
        return _settle_rest(walk, number, reading)
    odd = settle_odd_half(walk, number, reading.normed) if walk.trace.error is None else None
    if odd is not None:
        return settle_output(walk, number, odd.mlp, odd.sum, reading.norm is not None)
    walk.stuck("attention_output", number)
    return False


def _ways(walk: Walk, number: int, reading: Reading) -> Iterator[Half]:
    """Those that are in the trace and right, one without S15, then known wrong ones."""
    ways = sorted(_halves(walk, number, reading, outputs), key=lambda one: one.price)
    yield from (one for one in ways if one.price < 1.0)
    yield from _halves(walk, number, reading, implied_outputs)
    yield from (one for one in ways if one.price >= 1.0)


def _replace_context(walk: Walk, number: int, reading: Reading) -> bool:
    """Takes what was made of S14 for it, where only that leads on."""
    right = walk.context.stages["attention_context", number]
    for taken in contexts(walk, number):
        context = as_heads(taken, number)
        walk.context.stages["attention_context", number] = context(walk.context)
        if _leads_on(walk, number, reading):
            before = walk.steps.pop()
            settle_odd(walk, before.key, number, context, before.predict)
            return True
    walk.context.stages["attention_context", number] = right
    return False


def _leads_on(walk: Walk, number: int, reading: Reading) -> bool:
    """Does a map of S14, added to the block's input, lead to an MLP?"""
    halves = (one for one in _halves(walk, number, reading, outputs) if one.output.map is not None)
    return any(find_mlp(walk, one.mlp_input, one.raw, one.after) for one in halves)


@dataclass(frozen=True)
class Half:
    """One way through the first half: S15, the sum, and what the MLP reads."""

    output: Output
    sum: Form
    raw: Predict
    mlp_input: Predict
    norm: Norm | BatchNorm | None
    ids: tuple[str, ...]
    price: float
    after: int


def _halves(
    walk: Walk, number: int, reading: Reading, through: Callable[[Walk, int], Iterator[Output]]
) -> Iterator[Half]:
    x, normed = stage_of("block_input", number), reading.normed(walk.context)
    for output in through(walk, number):
        added = x(walk.context), normed, output.predict(walk.context)
        for form in ATTENTION_SUMS:
            found = walk.find(form.function(*added))
            if found:
                price = output.price + form.price
                raw: Predict = combine(form.function, x, reading.normed, output.predict)
                yield from _mlp_inputs(walk, output, form, raw, found, price, number)


def _mlp_inputs(
    walk: Walk, output: Output, form: Form, raw: Predict, found: Found, price: float, number: int
) -> Iterator[Half]:
    after = found.record - 1
    for norm, _, _ in walk.parameters.norms(raw(walk.context), after):
        yield Half(output, form, raw, applied(norm, raw), norm, norm.ids, price, after)
    yield Half(output, form, raw, raw, None, ("norm2-skipped",), price + 1.0, after)
    if price:
        return
    for norm, _, _ in walk.parameters.norms(raw(walk.context), after, NORMS[1:]):
        yield Half(output, form, raw, applied(norm, raw), norm, norm.ids, price + 1.0, after)
    others = (
        ("mlp-reads-block-input", stage_of("block_input", number)),
        ("mlp-reads-attn-output", output.predict),
    )
    for name, other in others:
        for norm, _, _ in walk.parameters.norms(other(walk.context), after):
            yield Half(output, form, raw, applied(norm, other), norm, (name, *norm.ids), price + 0.9, after)


def _settle_half(walk: Walk, number: int, choice: Half) -> None:
    output = choice.output
    found = walk.find(output.predict(walk.context))
    walk.settle("attention_output", number, output.predict, found, right=output.right, ids=output.ids)
    if output.map is not None:
        walk.roles[f"block{number}.out"] = output.map
    x, a = stage_of("block_input", number), stage_of("attention_output", number)
    right_sum: Predict = combine(eq.residual, x, a)
    right: Predict = right_sum if choice.norm is None else right_of(choice.norm, right_sum)
    ids = [*([] if choice.sum.id is None else [choice.sum.id]), *choice.ids]
    s16 = choice.mlp_input(walk.context)
    walk.settle("post_attention_norm", number, choice.mlp_input, walk.find(s16), right=right, ids=ids)
    if choice.norm is None:
        return
    walk.roles[f"block{number}.norm2"] = choice.norm
    first = walk.roles.get(f"block{number}.norm1")
    if isinstance(first, Norm) and walk.parameters.same(first, choice.norm):
        walk.note("norm1-reused-for-norm2", "post_attention_norm")
