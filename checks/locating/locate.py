"""Finding the stages of a pass: those before the blocks, then the cheapest explanation of the rest."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from math import inf

from ...reference.model_sizes import ModelSizes
from ...submissions.host.trace import Trace
from ..architecture.family import Family
from .anatomy import anatomy_of
from .best_first import explain
from .comparing import equal
from .following import about_begun, following
from .in_hand import is_in_hand
from .model import about_image, about_model
from .not_numbers import until_no_number
from .patience import USUAL, Patience
from .reached import settle_reached
from .steps import Step
from .walk import Walk, begin

_TWO_MISTAKES = 2.5
_ALONE = replace(USUAL, look_ups=15_000)  # of one kind of blocks: the others were in the way


def locate(
    trace: Trace,
    sizes: ModelSizes,
    family: Family,
    before: Walk | None = None,
    accepted: frozenset[str] = frozenset(),
    patience: Patience = USUAL,
) -> Walk:
    """Settles as many stages as an explanation is found for.

    A pass that ends in an exception, or in no numbers, is followed up to there. Where no known equation
    leads on, a stage is taken from the pass, measured, and has ``explained`` False; where nothing does,
    ``Walk.unexplained`` is the first stage that was not found. ``before`` is another pass of the same model:
    where that was known by its scores alone, so may this one be. Kinds of blocks that are ``accepted`` are
    rather believed than mistakes that give the same.
    """
    if before is not None and before.bound is not None:
        known = anatomy_of(family).known_otherwise(begin(trace, sizes, family))
        if known is not None:
            return known
    ended = until_no_number(trace, sizes)
    if ended is not None and ended.error is not None:
        walk = locate(ended, sizes, family, accepted=accepted)
        numbers = list(takewhile(lambda step: step.key != "logits", walk.steps))
        walk.unexplained = walk.ahead if numbers == walk.steps else ("logits", 0)
        walk.steps, walk.lost = numbers, ended.error.message
        return walk
    begun = begin(trace, sizes, family)
    begun.accepted, begun.patience = accepted, patience
    walk = _followed(begun)
    about_model(walk)
    if walk.ends_early:
        settle_reached(walk)
    about_image(walk)
    if not walk.ends_early and not _is_explained(walk):
        return anatomy_of(family).known_otherwise(walk) or walk
    return walk


def likeliest(
    trace: Trace, sizes: ModelSizes, family: Family, accepted: frozenset[str]
) -> tuple[Walk, frozenset[str]]:
    """What is located, and the kinds of blocks that are believed: of those ``accepted`` the best by itself.

    They are all of them where the pass needs no more than two mistakes, or one beside variants, or its blocks
    need none. Otherwise what is settled early of one kind may have ruled out what another one explains.
    """
    walk = locate(trace, sizes, family, accepted=accepted)
    is_certain = walk.price <= _TWO_MISTAKES or (_is_explained(walk) and len(walk.errors) < 2)
    if is_certain or len(accepted) < 2 or walk.ends_early or _has_right_blocks(walk):
        return walk, accepted
    best = walk, accepted
    for kind in map(frozenset, zip(sorted(accepted))):
        cheaper = replace(_ALONE, most=best[0].price if _is_explained(best[0]) else inf)
        alone = locate(trace, sizes, family, accepted=kind, patience=cheaper)
        best = min(best, (alone, kind), key=lambda one: _doubt(one[0]))
    return best


def _has_right_blocks(walk: Walk) -> bool:
    """Was every block followed, and is every stage of it what its equation gives?"""
    context = walk.context
    return _is_followed(walk) and all(
        step.explained and equal(context.stages[step.key, step.block], context.of(step.right))
        for step in walk.steps
        if step.block
    )


def _doubt(walk: Walk) -> tuple[bool, bool, float]:
    return not _is_followed(walk), not _is_explained(walk), walk.price


def _followed(walk: Walk) -> Walk:
    walk, done = explain(walk, (anatomy_of(walk.family).embed, following))
    if not done:
        if walk.ends_early:
            _drop_uncomputed(walk)
            about_begun(walk)
        walk.stuck(*walk.ahead)
    return walk


def _drop_uncomputed(walk: Walk) -> None:
    """What is implied by nothing that follows, in a pass that stopped."""
    while walk.steps and (_is_begun(walk, walk.steps[-1]) or _is_implied(walk, walk.steps[-1])):
        walk.steps.pop()
    if walk.steps and walk.steps[-1].key == "value" and not _was_cut(walk, walk.steps[-1]):
        del walk.steps[-3:]


def _is_begun(walk: Walk, step: Step) -> bool:
    """Is it a block's input of which nothing is made yet?"""
    made = any(one.began > walk.began[step.key, step.block] for one in walk.made.values())
    return step.key == "block_input" and not (walk.is_cut_short and step.findings and made)


def _is_implied(walk: Walk, step: Step) -> bool:
    return step.found is None and not is_in_hand(walk, step.predict(walk.context))


def _was_cut(walk: Walk, value: Step) -> bool:
    """Did the pass get past cutting the projections, of which the value is the last, into heads?

    If not, they are there all the same where what they read is wrong.
    """
    if walk.is_cut_short:
        return not walk.assumed or any(one.findings for one in walk.steps[-3:])
    found = value.found is not None and value.found.record + 1 < len(walk.trace.records)
    return found or is_in_hand(walk, value.predict(walk.context))


def _is_explained(walk: Walk) -> bool:
    return _is_followed(walk) and all(one.explained for one in walk.steps)


def _is_followed(walk: Walk) -> bool:
    return walk.unexplained is None and walk.blocks >= walk.sizes.depth
