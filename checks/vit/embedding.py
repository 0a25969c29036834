"""S05 to S07: the class token, the sequence with it, the positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import prod

import torch
from torch import Tensor

from ...reference import equations as eq
from ...submissions.host.trace import Use
from ..locating.best_first import Option, done, later
from ..locating.context import Context, Predict
from ..locating.forms import VARIANT, Form
from ..locating.search.origins import origin
from ..locating.search.places import Found
from ..locating.walk import Walk, applied, combine, stage_of
from ..locating.wiring.unknown import unknown_price
from .patches import patch_embeddings
from .position_tables import about_table, rows_of
from .token_forms import EMBEDDINGS, POSITIONS, POSITIONS_MOVED, TOKENS, TOKENS_WITHOUT
from .unknown_embedding import unknown_embeddings, unknown_patches, unknown_tokens

_MORE = 0.1  # the price of unknown tokens beside that of unknown embeddings
_SEEN = 0.15  # the price of tokens that are seen, and lead nowhere
_WRONG = 0.2  # the price below which nothing wrong is
_CANDIDATES = 10  # vectors that could be the class token; tables that could be the positions


def embedding(walk: Walk) -> Iterator[Option]:
    """The ways to S02 to S07."""
    walk.ahead = "patch_embeddings", 0
    yield Option(0.0, patch_embeddings, (_tokens,))
    if walk.trace.error is None:  # else nothing tells what would be read
        yield from (one.before(_tokens) for one in unknown_patches(walk))


def _tokens(walk: Walk) -> Iterator[Option]:
    """From S04 on; of what is right positions may be left out at the class token."""
    walk.ahead = "tokens", 0
    for form in (one for one in POSITIONS if one.price <= VARIANT):
        yield Option(form.price, partial(_take_right, form=form))
    yield Option(_SEEN, partial(_take_seen, forms=TOKENS[:1]), (_nowhere,))
    yield later(_WRONG, _wrong_tokens)
    if walk.is_cut_short:
        yield Option(1.0, partial(_take_seen, forms=TOKENS[1:]), (_nowhere,))
    if walk.trace.error is None:
        if walk.steps[-1].explained:
            yield from (one.before(_tokens) for one in unknown_embeddings(walk))
        yield later(unknown_price(walk) + _MORE, unknown_tokens)


def _take_right(walk: Walk, form: Form) -> bool:
    """With the first parameters that there are."""
    choices = _sequences(walk, [PLAIN], TOKENS[:1], (form,))
    return any(done(partial(_take, choice=one), walk) for one in choices if one.positions)


def _take_seen(walk: Walk, forms: tuple[Form, ...]) -> bool:
    """S05 and S06 where they are computed, whatever the pass goes on with."""
    for choice in _sequences(walk, [PLAIN], forms, ()):
        if choice.token is not None and walk.find(choice.sequence(walk.context)) is not None:
            settle_class_token(walk, choice)
            return True
    return False


def _nowhere(walk: Walk) -> Iterator[Option]:
    walk.ahead = "positioned_tokens", 0
    return iter(())


def _wrong_tokens(walk: Walk) -> Iterator[Option]:
    for choice in _sequences(walk, embeddings(walk), TOKENS, POSITIONS):
        if choice.price >= _WRONG:
            yield Option(choice.price - _WRONG, partial(_take, choice=choice))


def _take(walk: Walk, choice: TokenSequence) -> bool:
    walk.context.settle("tokens", 0, choice.sequence(walk.context))
    result = choice.positioned(walk.context)
    found = walk.places.find(result, walk.position - 1)
    if found is None or (choice.token is None and _is_part(walk, result, found)):
        return False
    _settle_tokens(walk, choice, found)
    return True


_Table = tuple[Use, ...]  # of positions: one parameter, or two row under row; none


@dataclass(frozen=True)
class Embedded:
    """What the sequence is made of: S04, or what was done to it first."""

    predict: Predict
    ids: tuple[str, ...] = ()
    price: float = 0.0


PLAIN = Embedded(stage_of("patch_embeddings", 0))


@dataclass(frozen=True)
class TokenSequence:
    """One way from S04 to S07."""

    embedded: Embedded
    token: Use | None
    tokens: Form
    table: _Table = ()
    positions: Form | None = None

    @property
    def price(self) -> float:
        forms = [self.tokens.price, 1.1 if self.positions is None else self.positions.price]
        return sum(forms) + self.embedded.price

    def sequence(self, context: Context) -> Tensor:
        x = self.embedded.predict(context)
        if self.token is None:
            return self.tokens.function(x)
        return self.tokens.function(context.use(self.token), x)

    def positioned(self, context: Context) -> Tensor:
        x = context.stage("tokens")
        if self.positions is None or not self.table:
            return x
        return self.positions.function(_numbers(context, self.table), x)

    def class_token(self, context: Context) -> Tensor:
        """Shape B 1 D."""
        x = context.stage("patch_embeddings")
        if self.token is None:
            return x.mean(1, keepdim=True)
        return context.use(self.token).reshape(-1, 1, x.shape[-1]).expand(x.shape[0], 1, -1)


def _numbers(context: Context, table: _Table) -> Tensor:
    """Row under row."""
    return torch.cat([rows_of(one)(context) for one in table])


def _is_part(walk: Walk, result: Tensor, found: Found) -> bool:
    """Does the sequence go on to a token that is none of these?"""
    return prod(walk.trace.records[found.record].shape) > result.numel()


def _sequences(
    walk: Walk, embeddings: Iterable[Embedded], forms: tuple[Form, ...], positions: tuple[Form, ...]
) -> Iterator[TokenSequence]:
    width, B = walk.sizes.embed_dim, walk.sizes.batch
    T = walk.context.stage("patch_embeddings").shape[1] + 1
    vectors = _next_used(walk, (1, B), width)
    tables: list[_Table] = [(use,) for use in _next_used(walk, (T, T - 1, T + 1, 1, B, B * T), width)]
    tables += _in_two_parts(walk, T, width)
    for embedded in embeddings:
        starts = [(use, form) for use in vectors for form in forms]
        x = embedded.predict(walk.context)
        seen = [(use, form) for use, form in starts if walk.find(form.function(walk.context.use(use), x))]
        without = [(None, form) for form in TOKENS_WITHOUT] if forms == TOKENS else []
        # where a sequence with a token is observed, the others need not be tried
        for token, tokens in [*(seen or starts), *without]:
            yield TokenSequence(embedded, token, tokens)
            for table in tables:
                if token not in table:
                    moved = (POSITIONS_MOVED,) if tokens.id == "cls-appended-last" else ()
                    for form in (*positions, *moved):
                        yield TokenSequence(embedded, token, tokens, table, form)


def _next_used(walk: Walk, rows: tuple[int, ...], width: int) -> list[Use]:
    """The next parameters with that many rows of ``width`` numbers, in order of use, then those before.

    The class token may be laid down before the patches are, and a position be added to it before that.
    """
    found = {use for count in rows for use in walk.parameters.of_size(count * width)}
    merged = {use for count in rows for use in walk.parameters.merged_of_size(count * width)}
    ahead = {use for use in found if use.record <= walk.position}
    return [*sorted(found - ahead)[:_CANDIDATES], *sorted((merged - found) | ahead)[:_CANDIDATES]]


def _in_two_parts(walk: Walk, tokens: int, width: int) -> list[_Table]:
    """Positions kept apart for the class token, to which its own was added before, and for the patches."""
    rows = walk.parameters.merged_of_size(width)[:_CANDIDATES]
    rest = _next_used(walk, (tokens - 1,), width)
    pairs = [(row, table) for table in rest for row in rows[::-1]]
    read = {pair: {walk.parameters.leaf(one) for one in pair} for pair in pairs}
    return [pair for pair in pairs if [kind for kind, *_ in read[pair]] == ["leaf", "leaf"]]  # two parameters


def embeddings(walk: Walk) -> Iterator[Embedded]:
    """What the sequence may be made of: S04, and what is sometimes done to it first."""
    for form in EMBEDDINGS:
        predict: Predict = _embedded(form)
        if form.id is None or walk.find(predict(walk.context)):
            yield Embedded(predict, () if form.id is None else (form.id,), form.price)
    x, after = walk.context.stage("patch_embeddings"), walk.position - 1
    parameters = walk.parameters  # a batch norm is one of the convolution's map, channel by channel
    for norm, _, _ in (*parameters.norms(x, after), *parameters.batch_norms(x, after)):
        yield Embedded(applied(norm, stage_of("patch_embeddings", 0)), ("norm-after-projection",), VARIANT)


def _embedded(form: Form) -> Predict:
    return lambda context: form.function(context.stage("patch_embeddings"), context.sizes.grid[1])


def _settle_tokens(walk: Walk, choice: TokenSequence, found: Found) -> None:
    if choice.embedded.ids:
        choice = replace_embeddings(walk, choice)
    settle_class_token(walk, choice)
    settle_positions(walk, choice, found)


def settle_class_token(walk: Walk, choice: TokenSequence) -> None:
    """S05 and S06."""
    walk.settle("class_token", 0, choice.class_token, walk.find(choice.class_token(walk.context)))
    _about_token(walk, choice)
    form, sequence = choice.tokens, choice.sequence(walk.context)
    right: Predict = combine(
        eq.prepend_class_token, stage_of("class_token", 0), stage_of("patch_embeddings", 0)
    )
    ids = [] if form.id is None else [form.id]
    walk.settle("tokens", 0, choice.sequence, walk.find(sequence), right=right, ids=ids, blame=form.blame)
    if form.id == "cls-appended-last":
        walk.class_row = -1


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
    return Context(context.trace, context.sizes, stages)


def _about_token(walk: Walk, choice: TokenSequence) -> None:
    """Notes a token that is no parameter, or not one for all images."""
    if choice.token is None:
        return
    walk.roles["class_token"] = choice.token
    tensor = walk.context.use(choice.token).reshape(-1, walk.sizes.embed_dim)
    made = origin(walk.trace, walk.trace.used(choice.token))
    if made.random:
        walk.note("cls-random-each-forward", "class_token")
    elif bool((tensor != tensor[0]).any()):
        walk.note("cls-per-batch-slot", "class_token")
    elif made.leaves and all(leaf.kind != "parameter" for leaf in made.leaves):
        walk.note("cls-not-parameter", "class_token")


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
        if form == POSITIONS[0]:
            about_table(walk, table[0])


def _is_table(walk: Walk, table: Use, x: Tensor) -> bool:
    return walk.context.use(table).numel() == x.shape[1] * x.shape[2]
