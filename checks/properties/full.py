"""The sizes at which models are really used: as wide as the assignment asks for, and with as many tokens.

Both at once would cost more than all other checks together.
"""

from __future__ import annotations

from dataclasses import replace

from ...reference.model_sizes import ModelSizes
from ...submissions.trace import Trace
from ...submissions.used import wide_pass
from ..drawing import Draw, is_large
from ..examination import Examination
from ..predicting import computes_weights, predicted, with_weights
from ..verdicts import CheckFailed, NotApplicable, NotAsked
from .deeper import demand_the_same
from .passes import example_of
from .uses import SINGLE, follow


def full_width(examination: Examination) -> None:
    """With the assignment's width and heads, in float32, the scores follow as at small sizes."""
    small, full = _small(examination), examination.assignment.full
    few = {name: full.patch * getattr(small, name) // small.patch for name in ("height", "width")}
    # a hidden layer of full size would take most of the time
    wide = replace(full, batch=small.batch, depth=small.depth, mlp_dim=full.embed_dim // 4, **few)
    fewer_heads = [replace(wide, heads=small.heads)] if full.embed_dim % small.heads == 0 else []
    for sizes in (wide, *fewer_heads):
        found = examination.session.sizes_for(sizes)
        trace = _shapes(examination, found)
        if trace.signature in examination.signatures:
            _follow(examination, found, trace)
            return
    _judge_afresh(examination, found)


def all_tokens(examination: Examination) -> None:
    """With as many tokens as the assignment has, in float32, the scores follow as at small sizes."""
    small, full = _small(examination), examination.assignment.full
    image = {name: getattr(full, name) for name in ("channels", "height", "width", "patch")}
    found = examination.session.sizes_for(replace(small, **image))
    trace = _shapes(examination, found)
    if trace.signature in examination.signatures:
        _follow(examination, found, trace)
    elif len(examination.signatures) > 1:
        raise NotApplicable("the code loops over what there is more of, so that other operations run")
    else:
        _judge_afresh(examination, found)


def _small(examination: Examination) -> ModelSizes:
    sizes = example_of(examination).draw.sizes
    if "patch" not in sizes.letters:
        raise NotAsked("the width and tokens of a model that reads no images are not tried")
    if is_large(sizes):
        raise NotAsked("the code fixes large sizes, and all else is judged at these")
    examination.demand_a_model()
    return sizes


def _shapes(examination: Examination, sizes: ModelSizes) -> Trace:
    trace = examination.session.trace(sizes, examination.seed)
    if trace.error is not None:
        raise CheckFailed(f"{_told(sizes)} the model fails: {trace.error}", (), Draw(sizes, examination.seed))
    return trace


def _follow(examination: Examination, sizes: ModelSizes, trace: Trace) -> None:
    """Compares the scores of a plain pass with what the plan gives for the same weights."""
    computed = computes_weights(trace)  # at the sizes of the trace, where they are laid out as there
    draw = Draw(sizes if computed else replace(sizes, batch=1), examination.seed)
    wide = wide_pass(examination.session, draw.sizes, draw.seed, draw.image, computed=computed)
    if wide.error is not None:
        raise CheckFailed(f"{_told(sizes)} the model fails: {wide.error}", (), draw)
    walk = examination.signatures[trace.signature]
    logits = predicted(walk, with_weights(trace, wide, draw.seed), draw.sizes, draw.image.float())
    if not follow(examination, wide.tensors, logits, SINGLE):
        text = f"{_told(sizes)} the scores do not follow from the stages as they do at smaller sizes"
        raise CheckFailed(text, (), draw)


def _judge_afresh(examination: Examination, sizes: ModelSizes) -> None:
    """Other operations run at these sizes than at small ones, though the code loops over nothing."""
    draw = Draw(sizes, examination.seed)
    demand_the_same(examination, examination.located(draw, examination.trace(draw)), _told(sizes))


def _told(sizes: ModelSizes) -> str:
    return f"with a width of {sizes.embed_dim}, {sizes.heads} heads and {sizes.tokens} tokens"
