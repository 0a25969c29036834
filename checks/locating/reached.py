"""How far a pass came that ended in an exception: the stages up to the one that was being computed."""

from __future__ import annotations

from collections.abc import Iterator

from ...reference import equations as eq
from .anatomy import anatomy_of
from .context import Predict
from .forms import Form
from .walk import Tries, Walk, applied, combine, stage_of
from .wiring.in_hand import at_hand, is_in_hand

_HANDED_ON = ("block_input", "block_output", "second_block_output", "last_block_output", "final_sequence")
_UNFINISHED = ("attention_scores", "attention_probabilities", "attention_context", "mlp_hidden")
_Tries = Iterator[
    tuple[str, int, Predict, Form | None]
]  # key, block, tensor, and the form if it is a known one


def settle_reached(walk: Walk) -> None:
    """Settles each stage behind the last one that was settled, as long as the next one was still computed."""
    if walk.steps and walk.steps[-1].key == walk.family.stages[-1].key:
        if walk.steps[-1].found is None:
            walk.steps.pop()  # implied by the logits, and never computed
        return
    while _settle_next(walk):
        pass
    while walk.steps and walk.steps[-1].findings and walk.steps[-1].key in _UNFINISHED:
        walk.steps.pop()  # such as scores before their scale


def _settle_next(walk: Walk) -> bool:
    key, block = (walk.steps[-1].key, walk.steps[-1].block) if walk.steps else walk.given[0]
    after = {**_IN_BLOCKS, **anatomy_of(walk.family).steps_on}
    return key in after and any(_reach(walk, *one) for one in after[key](walk, block))


def _reach(walk: Walk, key: str, block: int, predict: Predict, form: Form | None) -> bool:
    """Settles a stage that is in a record of its own, in hand, or the stage before itself."""
    tensor = predict(walk.context)
    found = walk.places.find(tensor) if key in _HANDED_ON else walk.find(tensor)
    made = found is not None and (key in _HANDED_ON or found.record > walk.position)
    if not made and not is_in_hand(walk, tensor):
        return False
    ids = [form.id] if form is not None and form.id else []
    walk.settle(key, block, predict, found, ids=ids, blame=form.blame if form is not None else None)
    return True


def _patches(walk: Walk, block: int) -> _Tries:
    yield "patches", 0, lambda context: eq.cut_patches(context.image, context.sizes.patch), None


def _flattened(walk: Walk, block: int) -> _Tries:
    yield "flattened_patches", 0, combine(eq.flatten_patches, stage_of("patches", 0)), None


def _class_token(walk: Walk, block: int) -> _Tries:
    """Something in hand that is one vector an image, whatever the image."""
    for number, (_, reference) in enumerate(at_hand(walk.context)):
        if not walk.trace.value(reference).image and reference.shape == (
            walk.sizes.batch,
            1,
            walk.sizes.embed_dim,
        ):
            yield "class_token", 0, _given(number), None


def _given(number: int) -> Predict:
    return lambda context: context.trace.tensor(at_hand(context)[number][1])


def _tokens(walk: Walk, block: int) -> _Tries:
    yield (
        "tokens",
        0,
        combine(eq.prepend_class_token, stage_of("class_token", 0), stage_of("patch_embeddings", 0)),
        None,
    )


def _block_input(walk: Walk, block: int) -> _Tries:
    yield "block_input", 1, stage_of("positioned_tokens", 0), None


def _block_output(walk: Walk, block: int) -> _Tries:
    yield "block_output", block, stage_of("post_mlp_norm", block), None


def _second(walk: Walk, block: int) -> _Tries:
    if block == walk.blocks >= 2:
        yield "second_block_output", 0, stage_of("block_output", 2), None
    elif walk.sizes.depth == 1:
        yield from _last(walk, block)


def _last(walk: Walk, block: int) -> _Tries:
    if walk.blocks >= walk.sizes.depth:
        yield "last_block_output", 0, stage_of("block_output", walk.blocks), None


def _final_sequence(walk: Walk, block: int) -> _Tries:
    x = stage_of("last_block_output", 0)
    for norm, _, _ in walk.parameters.norms(x(walk.context), walk.position - 1):
        yield "final_sequence", 0, applied(norm, x), None
    if walk.normed:
        yield "final_sequence", 0, x, None


def _row(walk: Walk, block: int) -> _Tries:
    yield "class_representation", 0, combine(eq.class_representation, stage_of("final_sequence", 0)), None


OF_VIT: dict[str, Tries] = {  # past each stage outside of the blocks
    "image": _patches,
    "patches": _flattened,
    "patch_embeddings": _class_token,
    "class_token": _tokens,
    "last_block_output": _final_sequence,
    "final_sequence": _row,
}

_IN_BLOCKS: dict[str, Tries] = {
    "positioned_tokens": _block_input,
    "post_mlp_norm": _block_output,
    "block_output": _second,
    "second_block_output": _last,
}
