"""Images in a batch do not see each other, and how many there are and how they lie in memory is the same."""

from __future__ import annotations

from dataclasses import replace

from ...examining.drawing import noise
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotReached
from ...locating.comparing import DIFFERENT, far
from . import holds
from .passes import demand_numbers, example_of, passes_of, scores_of


@holds(order=10, begun=True)
def batch_independence(examination: Examination) -> None:
    """An image's result does not depend on the rest of the batch.

    Else: An image's result depends on the rest of the batch
    """
    example = example_of(examination)
    image = example.draw.image
    others = noise(example.draw.sizes, example.draw.seed + 1)
    others[0] = image[0]
    after = examination.again(others).stages
    for (key, block), tensor in examination.before().stages.items():
        if key in ("image", "class_token") or tensor.shape[0] != example.draw.sizes.batch:
            continue
        if far(tensor[0], after[key, block][0]):
            where = f"{key.replace('_', ' ')}{f' of block {block}' if block else ''}"
            raise CheckFailed(
                f"{where} of the first image changes when the other images change", (), example.draw
            )


@holds(order=10)
def batch_sizes(examination: Examination) -> None:
    """Batches of 1, 2 and 5 images run, and give each image the same logits.

    Else: The model depends on the batch size
    """
    demand_numbers(examination)
    draw = examination.first_draw
    image = noise(replace(draw.sizes, batch=5), draw.seed)
    passes = {count: examination.forward(draw, [image[:count]]) for count in (5, 2, 1)}
    errors = {count: one.error for count, one in passes.items() if one.error is not None}
    if len(errors) == len(passes):
        raise NotReached("the forward pass raises an exception")
    for count, error in errors.items():
        id = "squeeze-drops-batch" if count == 1 else "batch-size-hard-coded"
        raise CheckFailed(f"a batch of {count} fails: {error}", (id,), draw, error.frame)
    for count in (1, 2):
        for part, whole in zip(passes[count].passes[0].tensors, passes[5].passes[0].tensors):
            if whole.shape[:1] == (5,) and part.shape != whole.shape and far(part, whole[:count]):
                ids = ("squeeze-drops-batch",) if part.dim() < whole.dim() else ()
                text = f"an image gets other logits in a batch of {count} than in a batch of 5"
                raise CheckFailed(text, ids, draw)


@holds(order=10)
def memory_layout(examination: Examination) -> None:
    """Images in channels-last format give the same logits.

    Else: Images in channels-last format fail or give other logits
    """
    draw = example_of(examination).draw
    channels = max(2, draw.sizes.channels)  # of one channel there is one layout
    sizes = type(draw.sizes)(**{**vars(draw.sizes), "channels": channels})
    draw = examination.buildable(replace(draw, sizes=sizes))
    expected = scores_of(examination, passes_of(examination, draw))
    passes = examination.forward(draw, channels_last=True)
    if passes.error is not None:
        text = f"an image in channels-last format fails: {passes.error}"
        raise CheckFailed(text, ("view-on-noncontiguous",), draw, passes.error.frame)
    if far(scores_of(examination, passes), expected):
        raise CheckFailed("the logits depend on the memory format of the image", (), draw)


@holds(order=10)
def responds_to_the_image(examination: Examination) -> None:
    """Two different images give different logits.

    Else: All images give the same logits
    """
    scores = scores_of(examination, passes_of(examination, example_of(examination).draw))
    if scores.shape[0] > 1 and not float((scores - scores[:1]).abs().max()) >= DIFFERENT:
        raise CheckFailed("the logits are the same for every image")
