"""S05 and S06 as they are found: what is known of the token, and where it was put."""

from __future__ import annotations

from ...reference import equations as eq
from ...submissions.host.trace import Reference
from ..locating.context import Predict
from ..locating.search.origins import origin
from ..locating.walk import Walk, combine, stage_of
from .token_sequences import TokenSequence


def settle_class_token(walk: Walk, choice: TokenSequence) -> None:
    """S05 and S06."""
    walk.settle("class_token", 0, choice.class_token, walk.find(choice.class_token(walk.context)))
    if choice.token is not None:
        walk.roles["class_token"] = choice.token
        about_token(walk, walk.trace.used(choice.token))
    form, sequence = choice.tokens, choice.sequence(walk.context)
    right: Predict = combine(
        eq.prepend_class_token, stage_of("class_token", 0), stage_of("patch_embeddings", 0)
    )
    ids = [] if form.id is None else [form.id]
    walk.settle("tokens", 0, choice.sequence, walk.find(sequence), right=right, ids=ids, blame=form.blame)
    if form.id == "cls-appended-last":
        walk.class_row = -1


def about_token(walk: Walk, reference: Reference) -> None:
    """Notes a token that is no parameter, or not one for all images."""
    tensor = walk.trace.tensor(reference).reshape(-1, walk.sizes.embed_dim)
    made = origin(walk.trace, reference)
    if made.random:
        walk.note("cls-random-each-forward", "class_token")
    elif bool((tensor != tensor[0]).any()):
        walk.note("cls-per-batch-slot", "class_token")
    elif made.leaves and all(leaf.kind != "parameter" for leaf in made.leaves):
        walk.note("cls-not-parameter", "class_token")
