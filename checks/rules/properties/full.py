"""The sizes at which models are really used: as wide as the assignment asks for, and with as many tokens.

Both at once would cost more than all other checks together.
"""

from __future__ import annotations

from dataclasses import replace

from ....reference.model_sizes import ModelSizes
from ....submissions.errors import OutOfMemory, Refused
from ....submissions.questions.size_limits import is_large
from ...examining.drawing import Draw
from ...examining.examination import Examination
from ...examining.full_size import full_sizes
from ...examining.passes.predicting import predicted, with_weights
from ...examining.verdicts import CheckFailed, NotApplicable, NotAsked
from ...locating.comparing import SINGLE
from ...locating.walk import Walk
from . import holds
from .deeper import demand_the_same
from .passes import example_of
from .ways_of_use import follow

_MOST_RECORDS = 20_000  # of a pass: some 6 MB of what is said of them
_FEWEST = 2  # patches of a side: of one, its position may be the class token as well
_BATCH = 2  # the least that is laid out by the same operations as more


@holds(order=110)
def full_width(examination: Examination) -> None:
    """At the assignment's width and heads, in float32, the logits are computed as at small sizes.

    Else: At full width the model fails or computes something else
    """
    small, full = _small(examination), full_sizes(examination)
    counts = {name: max(_FEWEST, getattr(small, name) // small.patch) for name in ("height", "width")}
    few = {name: full.patch * count for name, count in counts.items()}
    # a hidden layer of full size would take most of the time
    wide = replace(full, batch=_BATCH, depth=small.depth, mlp_dim=full.embed_dim // 4, **few)
    fewer_heads = [replace(wide, heads=small.heads)] if full.embed_dim % small.heads == 0 else []
    for sizes in (wide, *fewer_heads):
        found = _buildable(examination, sizes)
        if _runs_alike(examination, found):
            return
    _judge_afresh(examination, found)


@holds(order=110)
def all_tokens(examination: Examination) -> None:
    """With all tokens of the assignment, in float32, the logits are computed as at small sizes.

    Else: With all tokens the model fails or computes something else
    """
    small, full = _small(examination), full_sizes(examination)
    image = {name: getattr(full, name) for name in ("channels", "height", "width", "patch")}
    found = _buildable(examination, replace(small, batch=_BATCH, **image))
    first, has_loops = example_of(examination), len(examination.signatures) > 1
    if has_loops and len(first.trace.records) * found.tokens > _MOST_RECORDS * first.draw.sizes.tokens:
        raise NotApplicable("the code has a loop that runs so often here that it cannot be recorded")
    if _runs_alike(examination, found):
        return
    if has_loops:
        raise NotApplicable("the code has a loop that runs more often here, so other operations run")
    _judge_afresh(examination, found)


def _small(examination: Examination) -> ModelSizes:
    sizes = example_of(examination).draw.sizes
    if "patch" not in sizes.letters:
        raise NotAsked("full width and all tokens are only tried for models that read images")
    if is_large(sizes):
        raise NotAsked("the code has large sizes hard-coded, and all other checks use these")
    examination.demand_a_model()
    return sizes


def _buildable(examination: Examination, sizes: ModelSizes) -> ModelSizes:
    """The nearest sizes at which it can be built; those that its code fixes may be too many at once."""
    try:
        return examination.session.sizes_for(sizes)
    except Refused as refused:
        raise NotApplicable(refused.reason) from None


def _runs_alike(examination: Examination, sizes: ModelSizes) -> bool:
    """Do the operations of small sizes run there? Then the plan must give the scores of a plain pass, too.

    Where it does not, the same operations may have been given other views there: then a plan of its own must.
    """
    draw = Draw(sizes, examination.seed)
    try:
        wide = examination.session.wide(sizes, draw.seed, draw.image)
    except OutOfMemory as failure:  # of a wrong patch there may be two hundred times as many
        raise NotApplicable(f"{_told(sizes)} {failure}") from None
    error = wide.trace.error or wide.error
    if error is not None:
        text = f"{_told(sizes)} the model fails: {error}"
        if not examination.assignment.asks_sizes:
            raise NotApplicable(text)
        raise CheckFailed(text, (), draw, error.frame)
    walk = examination.signatures.get(wide.trace.signature)
    if walk is None:
        return False
    weights = with_weights(wide, draw.seed)

    def gives_scores(plan: Walk) -> bool:
        return follow(examination, wide.tensors, predicted(plan, weights, sizes, draw.image.float()), SINGLE)

    if not gives_scores(walk) and not gives_scores(_judge_afresh(examination, sizes)):
        text = f"{_told(sizes)} the logits are not computed from the stages as they are at smaller sizes"
        raise CheckFailed(text, (), draw)
    return True


def _judge_afresh(examination: Examination, sizes: ModelSizes) -> Walk:
    """The stages at these sizes, which must be as right as at small ones."""
    draw = Draw(sizes, examination.seed)
    found = examination.located(draw, examination.trace(draw))
    demand_the_same(examination, found, _told(sizes))
    return found.walk


def _told(sizes: ModelSizes) -> str:
    return f"with a width of {sizes.embed_dim}, {sizes.heads} heads and {sizes.tokens} tokens"
