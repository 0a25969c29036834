"""What the sequence of tokens may be made of: S04 or what was done to it, a class token, positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

from ...submissions.host.trace import Use
from ..locating.context import Context, Predict
from ..locating.forms import VARIANT, Form
from ..locating.search.nearness import same
from ..locating.search.norms import IN_BLOCKS, is_in_blocks
from ..locating.search.origins import origin
from ..locating.walk import Walk, applied, stage_of
from .position_tables import rows_of
from .token_forms import EMBEDDINGS, POSITIONS, POSITIONS_MOVED, TOKENS, TOKENS_WITHOUT

_OWN = 4  # vectors that could be the token's own position, where the patches have rows and columns
_CANDIDATES = 10  # vectors that could be the class token; tables that could be the positions

_Table = tuple[Use, ...]  # of positions: one parameter, two row under row, or rows and columns; none


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
        x = context.of(self.embedded.predict)
        if self.token is None:
            return self.tokens.function(x)
        return self.tokens.function(context.use(self.token), x)

    def positioned(self, context: Context) -> Tensor:
        return self._with_positions(context, context.stage("tokens"))

    def whole(self, context: Context) -> Tensor:
        """The sequence with positions, whatever of it is settled."""
        return self._with_positions(context, self.sequence(context))

    def without_token(self, context: Context) -> Tensor:
        """The sequence with positions, in which whatever hangs on the class token is not a number."""
        assert self.token is not None
        unknown = torch.full_like(context.use(self.token), torch.nan)
        x = self.tokens.function(unknown, context.of(self.embedded.predict))
        return self._with_positions(context, x)

    def _with_positions(self, context: Context, x: Tensor) -> Tensor:
        if self.positions is None or not self.table:
            return x
        return self.positions.function(_numbers(context, self.table, x.shape[1]), x)

    def class_token(self, context: Context) -> Tensor:
        """Shape B 1 D."""
        x = context.stage("patch_embeddings")
        if self.token is None:
            return x.mean(1, keepdim=True)
        return context.use(self.token).reshape(-1, 1, x.shape[-1]).expand(x.shape[0], 1, -1)


def _numbers(context: Context, table: _Table, tokens: int) -> Tensor:
    """Row under row; of a table of one number a token, as a column.

    Of rows and columns of patches their sums, for so many ``tokens``, behind what stands before them in the
    table; a class token that has nothing there has none.
    """
    numbers = [context.use(one) for one in table]
    grid = tuple(one.numel() // context.sizes.embed_dim for one in numbers[-2:])
    if grid == context.sizes.grid:
        first, down, along = (one.reshape(-1, context.sizes.embed_dim) for one in _three(numbers))
        sums = (down[:, None] + along).flatten(0, 1)
        return torch.cat([first, torch.zeros_like(sums[: tokens - len(sums) - len(first)]), sums])
    if sum(one.numel() for one in numbers) % context.sizes.embed_dim:
        return torch.cat([one.reshape(-1, 1) for one in numbers])
    return torch.cat([rows_of(one)(context) for one in table])


def _three(numbers: list[Tensor]) -> list[Tensor]:
    return numbers if len(numbers) > 2 else [numbers[0][:0], *numbers]


def sequences(
    walk: Walk, embeddings: Iterable[Embedded], forms: tuple[Form, ...], positions: tuple[Form, ...]
) -> Iterator[TokenSequence]:
    width, B = walk.sizes.embed_dim, walk.sizes.batch
    T = walk.context.stage("patch_embeddings").shape[1] + 1
    vectors = _next_used(walk, (1, B), width)
    tables: list[_Table] = [(use,) for use in _next_used(walk, (T, T - 1, T + 1, 1, B, B * T), width)]
    tables += [(use,) for use in _next_used(walk, (T,), 1) if T % width]
    tables += _in_two_parts(walk)
    grids = _by_rows_and_columns(walk)
    for embedded in embeddings:
        starts = [(use, form) for use in vectors for form in forms]
        x = embedded.predict(walk.context)
        seen = [(use, form) for use, form in starts if walk.find(form.function(walk.context.use(use), x))]
        without = [(None, form) for form in TOKENS_WITHOUT] if forms == TOKENS else []
        # where a sequence with a token is observed, the others need not be tried
        for token, tokens in [*(seen or starts), *without]:
            yield TokenSequence(embedded, token, tokens)
            moved = POSITIONS_MOVED if tokens.id == "cls-appended-last" else ()
            for table in (one for one in (*tables, *grids) if _is_apart(walk, token, one)):
                is_whole = table in grids or _is_blank(walk, table)
                for form in (*positions[:1], *moved[:1]) if is_whole else (*positions, *moved):
                    yield TokenSequence(embedded, token, tokens, table, form)


def _is_apart(walk: Walk, token: Use | None, table: _Table) -> bool:
    """Is the token no part of the table, and computed of no position, its own or one of the table?"""
    if token is None:
        return True
    if _is_leaf(walk, token):
        return not any(_overlap(walk, token, one) for one in table)
    made, *tables = (_leaves(walk, one) for one in (token, *table))
    rows = sum(prod(walk.trace.used(one).shape) for one in table) // walk.sizes.embed_dim
    has_row = rows > walk.context.stage("patch_embeddings").shape[1]
    return not any(made & one for one in tables) and (has_row or len(made) == 1)


def _is_blank(walk: Walk, table: _Table) -> bool:
    """Are they all zeros, which nothing tells from no positions, however they are added?"""
    return not any(bool(walk.context.use(one).any()) for one in table)


def _is_leaf(walk: Walk, use: Use) -> bool:
    """Is it a parameter itself, and not computed of some?"""
    return walk.parameters.leaf(use)[0] == "leaf"


def _overlap(walk: Walk, one: Use, other: Use) -> bool:
    """Do they read some of the same numbers of one parameter?"""
    if one == other:
        return True
    first, second = sorted(walk.trace.used(use)[:4] for use in (one, other))
    return first[:2] == second[:2] and first[2] + prod(first[3]) > second[2]


def _leaves(walk: Walk, use: Use) -> set[int]:
    """Of what it was computed, but for single numbers and zeros."""
    found: set[int] = walk.once(("leaves", use), lambda: _computed_of(walk, use))
    return found


def _computed_of(walk: Walk, use: Use) -> set[int]:
    leaves = (one for one in origin(walk.trace, walk.trace.used(use)).leaves if prod(one.shape) > 1)
    return {one.number for one in leaves if one.cells is None or bool(one.cells.any())}


def _next_used(walk: Walk, rows: tuple[int, ...], width: int) -> list[Use]:
    """The next parameters with that many rows of ``width`` numbers, in order of use, then those before.

    The class token may be laid down before the patches are, and a position be added to it before that.
    """
    found = {use for count in rows for use in walk.parameters.of_size(count * width)}
    merged = {use for count in rows for use in walk.parameters.merged_of_size(count * width)}
    ahead = {use for use in found if use.record <= walk.position}
    return [*_first_different(walk, found - ahead), *_first_different(walk, (merged - found) | ahead)]


def _first_different(walk: Walk, uses: set[Use]) -> list[Use]:
    """In order of use, each parameter once: a bias may be added to one patch after the other."""
    once = {walk.trace.used(use): use for use in sorted(uses, reverse=True)}
    return sorted(once.values())[:_CANDIDATES]


def _in_two_parts(walk: Walk) -> list[_Table]:
    """Positions kept apart for the class token, to which its own was added before, and for the patches."""
    N, width = walk.context.stage("patch_embeddings").shape[1:]
    rows = walk.parameters.merged_of_size(width)[:_CANDIDATES]
    rest = _next_used(walk, (N,), width)
    rows = [one for one in rows[::-1] if _is_leaf(walk, one)]
    pairs = [(row, table) for table in rest for row in rows]
    # a table may be computed, as one that is fitted to the image is, but not of the row
    apart = (pair for pair in pairs if not _leaves(walk, pair[0]) & _leaves(walk, pair[1]))
    return [pair for pair in apart if not _overlap(walk, *pair)]


def _by_rows_and_columns(walk: Walk) -> list[_Table]:
    """Positions of rows of patches, and of columns, whose sums are those of patches; that of a token before.

    To the token its own was added before.
    """
    width = walk.sizes.embed_dim
    rows, columns = (_next_used(walk, (count,), width) for count in walk.sizes.grid)
    pairs = [(down, along) for down in rows for along in columns if not _overlap(walk, down, along)]
    vectors = [one for one in walk.parameters.merged_of_size(width) if _is_leaf(walk, one)]
    own = ((one, *pair) for pair in pairs for one in vectors[:_OWN] if one not in pair)
    return [*pairs, *own]


def put_together_later(walk: Walk, patches: Tensor) -> TokenSequence | None:
    """The right sequence of a pass whose ``patches`` have positions before there is a class token."""
    x = walk.context.stage("patch_embeddings")
    vectors = walk.parameters.merged_of_size(x.shape[2])
    whole = walk.parameters.merged_of_size((x.shape[1] + 1) * x.shape[2])
    for table in (*((one,) for one in whole), *_in_two_parts(walk), *_by_rows_and_columns(walk)):
        if same(patches, x + _numbers(walk.context, table, x.shape[1] + 1)[1:]):
            taken = set().union(*(_leaves(walk, one) for one in table))
            others = (one for one in vectors if _is_leaf(walk, one))
            token = next((one for one in others if not _leaves(walk, one) & taken), None)
            return token and TokenSequence(PLAIN, token, TOKENS[0], table, POSITIONS[0])
    return None


def embeddings(walk: Walk) -> Iterator[Embedded]:
    """What the sequence may be made of: S04, and what is sometimes done to it first."""
    for form in EMBEDDINGS:
        predict: Predict = _embedded(form)
        if form.id is None or walk.find(predict(walk.context)):
            yield Embedded(predict, () if form.id is None else (form.id,), form.price)
    x, after = walk.context.stage("patch_embeddings"), walk.position - 1
    parameters = walk.parameters  # a batch norm is one of the convolution's map, channel by channel
    for norm, _, _ in (*parameters.norms(x, after), *parameters.batch_norms(x, after)):
        price = VARIANT + IN_BLOCKS * is_in_blocks(walk.trace, norm)
        yield Embedded(applied(norm, stage_of("patch_embeddings", 0)), ("norm-after-projection",), price)


def _embedded(form: Form) -> Predict:
    return lambda context: form.function(context.stage("patch_embeddings"), context.sizes.grid[1])
