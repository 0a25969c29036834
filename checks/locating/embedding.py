"""S02 to S07: patches, their embeddings, the class token, the positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ...reference import equations as eq
from ...submissions.trace import Use
from .context import Context, Predict
from .forms import EMBEDDINGS, PATCHES, POSITIONS, TOKENS, TOKENS_WITHOUT, Form
from .origins import origin
from .parameters import Linear
from .places import Found
from .walk import Walk, applied, combine, stage_of

_CANDIDATES = 10  # vectors that could be the class token; tables that could be the positions


def embedding(walk: Walk) -> bool:
    """Settles S02 to S07; False where the patch embeddings, or how they enter the blocks, stay unexplained."""
    return _patch_embeddings(walk) and _tokens(walk)


def _patch_embeddings(walk: Walk) -> bool:
    patch = walk.sizes.patch
    for form in PATCHES:
        flat: Predict = _patches(form, patch)
        x = flat(walk.context)
        for map_, result, found in walk.parameters.linears(x, after=-1, outputs=walk.sizes.embed_dim):
            _settle_patches(walk, form, flat, map_, found)
            return result is not None
    return _per_position(walk) or _normed_patches(walk)


def _patches(form: Form, patch: int) -> Predict:
    return lambda context: form.function(context.image, patch)


def _settle_patches(walk: Walk, form: Form, flat: Predict, map_: Linear | None, found: Found) -> None:
    """S02 and S03 are observed if some record holds them, and implied by S04 otherwise."""
    patch, ids = walk.sizes.patch, () if form.id is None else (form.id,)
    right: Predict = lambda context: eq.cut_patches(context.image, patch)
    channels = walk.sizes.channels
    cut: Predict = right
    if form.blame == "patches":
        cut = lambda context: flat(context).unflatten(-1, (channels, patch, patch))
    at_patches = form.blame == "patches"
    walk.settle("patches", 0, cut, walk.find(cut(walk.context)), right=right, ids=ids if at_patches else ())
    flattened: Predict = combine(eq.flatten_patches, stage_of("patches", 0))
    walk.settle(
        "flattened_patches",
        0,
        flat,
        walk.find(flat(walk.context)),
        right=flattened if not at_patches else flat,
        ids=() if at_patches else ids,
    )
    if map_ is not None:
        walk.settle("patch_embeddings", 0, applied(map_, stage_of("flattened_patches", 0)), found)
        walk.roles["projection"] = map_
        if map_.bias is None:
            walk.note("projection-bias-missing", "patch_embeddings", found.record)


def _per_position(walk: Walk) -> bool:
    """A linear layer of its own for every patch."""
    flat = _patches(PATCHES[0], walk.sizes.patch)
    x = flat(walk.context)
    B, N, inputs = x.shape
    width = walk.sizes.embed_dim
    for use in walk.parameters.of_size(N * inputs * width):
        predict: Predict = lambda context, use=use: torch.einsum(  # type: ignore[misc]  # lambda default
            "bnf,nfd->bnd", flat(context), context.use(use).reshape(context.sizes.patches, -1, width)
        )
        found = walk.find(predict(walk.context))
        if found:
            _settle_patches(walk, PATCHES[0], flat, None, found)
            walk.settle("patch_embeddings", 0, predict, found, ids=["projection-per-position"])
            return True
    return False


def _normed_patches(walk: Walk) -> bool:
    """A norm of the patches before the projection."""
    for form in PATCHES[:2]:
        flat = _patches(form, walk.sizes.patch)
        for norm, normed, _ in walk.parameters.norms(flat(walk.context), -1):
            for map_, _, found in walk.parameters.linears(normed, -1, walk.sizes.embed_dim):
                _settle_patches(walk, form, flat, None, found)
                walk.settle("patch_embeddings", 0, applied(map_, applied(norm, flat)), found)
                walk.roles["projection"] = map_
                walk.note("norm-after-projection", "patch_embeddings", found.record)
                return True
    return False


@dataclass(frozen=True)
class _Sequence:
    """One way from S04 to S07."""

    embedded: Predict
    embedding_ids: tuple[str, ...]
    token: Use | None
    tokens: Form
    positions_use: Use | None
    positions: Form | None
    apart: int | None = None  # the leaf of all positions, where they were added before the token was put in front

    @property
    def price(self) -> float:
        forms = [self.tokens.price, 1.1 if self.positions is None else self.positions.price]
        return sum(forms) + sum(1.0 for _ in self.embedding_ids)

    def sequence(self, context: Context) -> Tensor:
        x = self.embedded(context)
        if self.apart is not None and self.token is not None:
            token = context.use(self.token).reshape(-1, 1, x.shape[-1]) - self._table(context, x)[0]
            return self.tokens.function(token, x)
        return self.tokens.function(x) if self.token is None else self.tokens.function(context.use(self.token), x)

    def positioned(self, context: Context) -> Tensor:
        x = context.stage("tokens")
        if self.apart is not None:
            return eq.add_positions(x, self._table(context, x))
        if self.positions is None or self.positions_use is None:
            return x
        return self.positions.function(context.use(self.positions_use), x)

    def _table(self, context: Context, x: Tensor) -> Tensor:
        leaf = context.trace.leaves[self.apart or 0]
        return context.trace.tensor(leaf.reference).reshape(-1, x.shape[-1])


def _tokens(walk: Walk) -> bool:
    """The cheapest way from S04 to a tensor that the blocks read."""
    after = walk.position
    for choice in sorted(_sequences(walk), key=lambda one: one.price):
        choice = _apart(walk, choice)
        try:
            sequence = choice.sequence(walk.context)
            walk.context.stages["tokens", 0] = sequence
            result = choice.positioned(walk.context)
        except RuntimeError:  # sizes that do not go together: this is not what was done
            continue
        found = walk.places.find(result, after - 1)
        if found and walk.reads(result, found.record - 1):
            _settle_tokens(walk, choice, found)
            return True
    walk.context.stages.pop(("tokens", 0), None)
    return False


def _apart(walk: Walk, choice: _Sequence) -> _Sequence:
    """Positions added to the token and to the patches before they are put together are right, too.

    The token then arrives with its position, and S06 is never made.
    """
    form = choice.positions
    if form is None or form.id != "cls-without-position" or choice.token is None or choice.positions_use is None:
        return choice
    table = origin(walk.trace, walk.trace.used(choice.positions_use)).leaves
    both = origin(walk.trace, walk.trace.used(choice.token)).leaves
    shared = [leaf.number for leaf in table if leaf in both and leaf.cells is not None]
    if len(shared) != 1:
        return choice
    return replace(choice, positions=POSITIONS[0], apart=shared[0])


def _sequences(walk: Walk) -> Iterator[_Sequence]:
    width, B, T = walk.sizes.embed_dim, walk.sizes.batch, walk.sizes.tokens
    vectors = _next_used(walk, (1, B), width)
    tables = _next_used(walk, (T, T - 1, T + 1, 1, B, B * T), width)
    for embedded, ids in _embeddings(walk):
        starts = [(use, form) for use in vectors for form in TOKENS]
        seen = [one for one in starts if walk.find(one[1].function(walk.context.use(one[0]), embedded(walk.context)))]
        # where a sequence with a token is observed, the others need not be tried
        for token, tokens in [*(seen or starts), *((None, form) for form in TOKENS_WITHOUT)]:
            yield _Sequence(embedded, ids, token, tokens, None, None)
            for table in tables:
                if table != token:
                    for form in POSITIONS:
                        yield _Sequence(embedded, ids, token, tokens, table, form)


def _next_used(walk: Walk, rows: tuple[int, ...], width: int) -> list[Use]:
    """The next parameters with that many rows of ``width`` numbers, in order of use."""
    found = {use for count in rows for use in walk.parameters.of_size(count * width, walk.position)}
    return sorted(found)[:_CANDIDATES]


def _embeddings(walk: Walk) -> Iterator[tuple[Predict, tuple[str, ...]]]:
    """What the sequence may be made of: S04, and what is sometimes done to it first."""
    columns = walk.sizes.grid[1]
    for form in EMBEDDINGS:
        predict: Predict = _embedded(form, columns)
        if form.id is None or walk.find(predict(walk.context)):
            yield predict, () if form.id is None else (form.id,)
    for norm, _, _ in walk.parameters.norms(walk.context.stage("patch_embeddings"), walk.position - 1):
        yield applied(norm, stage_of("patch_embeddings", 0)), ("norm-after-projection",)


def _embedded(form: Form, columns: int) -> Predict:
    return lambda context: form.function(context.stage("patch_embeddings"), context.sizes.grid[1])


def _settle_tokens(walk: Walk, choice: _Sequence, found: Found) -> None:
    if choice.embedding_ids:
        _replace_embeddings(walk, choice)
    x = stage_of("patch_embeddings", 0)
    token: Predict = _class_token(choice)
    token_found = walk.find(token(walk.context))
    walk.settle("class_token", 0, token, token_found, right=token)
    _about_token(walk, choice)
    ids = [] if choice.tokens.id is None else [choice.tokens.id]
    sequence = choice.sequence(walk.context)
    right_tokens: Predict = combine(eq.prepend_class_token, stage_of("class_token", 0), x)
    ids_here = [] if choice.tokens.blame else ids
    walk.settle("tokens", 0, choice.sequence, walk.find(sequence), right=right_tokens, ids=ids_here)
    if choice.tokens.blame:
        walk.note(ids[0], choice.tokens.blame)
    if choice.tokens.id == "cls-appended-last":
        walk.class_row = -1
    _settle_positions(walk, choice, found)


def _replace_embeddings(walk: Walk, choice: _Sequence) -> None:
    """S04 existed for a moment, and the pass went on with something else."""
    step = walk.steps.pop()
    walk.settle(
        "patch_embeddings",
        0,
        lambda context: choice.embedded(_with(context, step.predict)),
        walk.find(choice.embedded(walk.context)),
        right=step.predict,
        ids=[*(one.id for one in step.findings), *choice.embedding_ids],
    )


def _with(context: Context, embeddings: Predict) -> Context:
    stages = {**context.stages, ("patch_embeddings", 0): embeddings(context)}
    return Context(context.trace, context.sizes, stages)


def _class_token(choice: _Sequence) -> Predict:
    def predict(context: Context) -> Tensor:
        x = context.stage("patch_embeddings")
        if choice.token is None:
            return x.mean(1, keepdim=True)
        if choice.apart is not None:
            return choice.sequence(context)[:, :1]
        return context.use(choice.token).reshape(-1, 1, x.shape[-1]).expand(x.shape[0], 1, -1)

    return predict


def _about_token(walk: Walk, choice: _Sequence) -> None:
    """Is the token a parameter, and one for all images?"""
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


def _settle_positions(walk: Walk, choice: _Sequence, found: Found) -> None:
    form = choice.positions
    right: Predict = choice.positioned
    ids = ["pos-missing"] if form is None else [form.id] if form.id else []
    if form is None and _stale(walk, found):
        ids = ["block-reads-stale-tokens"]
    walk.settle("positioned_tokens", 0, choice.positioned, found, right=right, ids=ids)
    if choice.positions_use is None:
        return
    walk.roles["positions"] = choice.positions_use
    made = origin(walk.trace, walk.trace.used(choice.positions_use))
    registered = any(leaf.kind in ("parameter", "buffer") for leaf in made.leaves)
    if made.leaves and not registered and any(leaf.cells is not None for leaf in made.leaves):
        walk.note("pos-not-parameter", "positioned_tokens")


def _stale(walk: Walk, found: Found) -> bool:
    """Was the sum with some table computed, and then not used?"""
    x = walk.context.stage("tokens")
    tables = walk.parameters.of_size(x.shape[1] * x.shape[2], found.record)[:_CANDIDATES]
    return any(walk.places.find(x + walk.context.use(table).reshape(x.shape[1:])) for table in tables)
