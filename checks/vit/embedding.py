"""S05 to S07: the class token, the sequence with it, the positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import prod

from torch import Tensor

from ...reference import equations as eq
from ...submissions.host.trace import Use
from ..locating.best_first import Option, done, later
from ..locating.context import Context, Predict
from ..locating.forms import VARIANT, Form
from ..locating.search.places import Found
from ..locating.walk import Walk, combine, stage_of
from ..locating.wiring.unknown import unknown_price
from .class_token import settle_class_token
from .patches import patch_embeddings
from .position_tables import about_table, rows_of
from .token_forms import POSITIONS, TOKEN_OF_PATCHES, TOKENS
from .token_sequences import PLAIN, TokenSequence, embeddings, sequences
from .unknown_embedding import unknown_embeddings, unknown_patches, unknown_tokens

_MORE = 0.1  # the price of unknown tokens beside that of unknown embeddings
_SEEN = 0.15  # the price of tokens that are seen, and lead nowhere
_WRONG = 0.2  # the price below which nothing wrong is
# with a row for each token, or for each patch alone
_WHOLE_TABLES = [one for one in POSITIONS if one.id in (None, "cls-without-position")]
_FEW = 16  # numbers that tell what a sequence is made of from what else it may be made of


def embedding(walk: Walk) -> Iterator[Option]:
    """The ways to S02 to S07."""
    walk.ahead = "patch_embeddings", 0
    yield Option(0.0, patch_embeddings, (tokens_and_positions,))
    if not walk.ends_early:  # else nothing tells what would be read
        yield from (one.before(tokens_and_positions) for one in unknown_patches(walk))


def tokens_and_positions(walk: Walk) -> Iterator[Option]:
    """From S04 on; of what is right positions may be left out at the class token."""
    walk.ahead = "tokens", 0
    for form in (one for one in POSITIONS if one.price <= VARIANT):
        yield Option(form.price, partial(_take_right, form=form))
    yield Option(_SEEN, _take_seen, (_nowhere,))
    yield later(_WRONG, _wrong_tokens)
    if walk.is_cut_short:
        yield from _at_an_end(walk)
    if not walk.ends_early:
        if walk.steps[-1].explained:
            yield from (one.before(tokens_and_positions) for one in unknown_embeddings(walk))
        yield later(unknown_price(walk) + _MORE, unknown_tokens)


def _take_right(walk: Walk, form: Form) -> bool:
    """With the first parameters that there are."""
    choices = sequences(walk, [PLAIN], TOKENS[:1], (form,))
    return any(done(partial(_take, choice=one), walk) for one in choices if one.positions)


def _at_an_end(walk: Walk) -> Iterator[Option]:
    """What was done to S04, and the sequence of it, where the pass may end with either."""
    for one in embeddings(walk):
        if one.ids:
            alone = partial(_take_embedded, choice=TokenSequence(one, None, TOKENS[0]))
            yield Option(one.price, alone, (_nowhere,))
        for choice in sequences(walk, [one], TOKENS, ()):
            if choice.token is not None or choice.tokens is TOKEN_OF_PATCHES:
                price = choice.tokens.price + one.price
                yield Option(price, partial(_take_sequence, choice=choice), (_nowhere,))


def _take_embedded(walk: Walk, choice: TokenSequence) -> bool:
    tensor = choice.embedded.predict(walk.context)
    found = walk.find(tensor)
    if found is None or _is_part(walk, tensor):
        return False
    replace_embeddings(walk, choice)
    return True


def _take_sequence(walk: Walk, choice: TokenSequence) -> bool:
    if walk.find(choice.sequence(walk.context)) is None:
        return False
    settle_class_token(walk, replace_embeddings(walk, choice) if choice.embedded.ids else choice)
    return True


def _take_seen(walk: Walk) -> bool:
    """S05 and S06 where they are computed, whatever the pass goes on with."""
    right = (one for one in sequences(walk, [PLAIN], TOKENS[:1], ()) if one.token is not None)
    return any(_take_sequence(walk, one) for one in right)


def _nowhere(walk: Walk) -> Iterator[Option]:
    walk.ahead = "positioned_tokens", 0
    return iter(())


def _wrong_tokens(walk: Walk) -> Iterator[Option]:
    for choice in sequences(walk, embeddings(walk), TOKENS, POSITIONS):
        if choice.price >= _WRONG:
            yield Option(choice.price - _WRONG, partial(_take, choice=choice))


def _take(walk: Walk, choice: TokenSequence) -> bool:
    if not _has_the_rest(walk, choice):
        return False
    walk.context.settle("tokens", 0, choice.sequence(walk.context))
    result = choice.positioned(walk.context)
    found = walk.places.find(result, walk.position - 1)
    if found is None or _is_part(walk, result):
        return False
    _settle_tokens(walk, choice, found)
    return True


def _has_the_rest(walk: Walk, choice: TokenSequence) -> bool:
    """Is what hangs on no class token there? That is found out once for all that may be the token."""
    if choice.token is None:
        return True
    x = walk.context.of(choice.embedded.predict)
    some = tuple(x.flatten()[:: max(1, x.numel() // _FEW)].tolist())
    rows = walk.context.use(choice.token).numel()
    key = "rest", some, rows, choice.tokens, choice.table, choice.positions, walk.position
    return bool(walk.once(key, lambda: _has_rest(walk, choice)))


def _has_rest(walk: Walk, choice: TokenSequence) -> bool:
    rest = choice.without_token(walk.context)[-1]  # of one image
    known = rest[rest.isfinite()]
    return not known.numel() or walk.places.has_largest(known, walk.position - 1)


def _is_part(walk: Walk, result: Tensor) -> bool:
    """Is the sequence put together with a token that is none of these? Stacked with others it is no part."""
    sizes = (prod(walk.trace.records[one.record].shape) for one in walk.places.all(result, walk.position - 1))
    return any(result.numel() < size < 2 * result.numel() for size in sizes)


def _settle_tokens(walk: Walk, choice: TokenSequence, found: Found) -> None:
    if choice.embedded.ids:
        choice = replace_embeddings(walk, choice)
    settle_class_token(walk, choice)
    settle_positions(walk, choice, found)


def replace_embeddings(walk: Walk, choice: TokenSequence) -> TokenSequence:
    """S04 existed for a moment, and the pass went on with something else."""
    step = walk.steps.pop()

    def predict(context: Context) -> Tensor:
        return choice.embedded.predict(_with(context, step.predict))

    walk.settle(
        "patch_embeddings",
        0,
        predict,
        walk.find(predict(walk.context)),
        right=step.predict,
        ids=[*(one.id for one in step.findings), *choice.embedded.ids],
    )
    return replace(choice, embedded=PLAIN)


def _with(context: Context, embeddings: Predict) -> Context:
    stages = {**context.stages, ("patch_embeddings", 0): embeddings(context)}
    return replace(context, stages=stages)


def settle_positions(walk: Walk, choice: TokenSequence, found: Found) -> None:
    """S07."""
    x = walk.context.stage("tokens")
    form, table = choice.positions, choice.table
    ids = ["pos-missing"] if form is None else [form.id] if form.id else []
    predict: Predict = choice.positioned
    where = walk.places.find(predict(walk.context), walk.position - 1) or found
    right: Predict | None = None
    if form is not None and form.id is not None and len(table) == 1 and _is_table(walk, table[0], x):
        right = combine(eq.add_positions, stage_of("tokens", 0), rows_of(table[0]))
    walk.settle("positioned_tokens", 0, predict, where, right=right, ids=ids)
    if len(table) == 1:
        walk.roles["positions"] = table[0]
        if form in _WHOLE_TABLES:
            about_table(walk, table[0])


def _is_table(walk: Walk, table: Use, x: Tensor) -> bool:
    return walk.context.use(table).numel() == x.shape[1] * x.shape[2]
