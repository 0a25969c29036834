"""A pass on a picture of the reader's own, with the stages that were located on noise."""

from __future__ import annotations

from dataclasses import replace

import torch

from ...submissions.host.trace import Trace
from ...submissions.questions.size_limits import is_large
from ..locating.locate import locate
from .drawing import Draw
from .full_size import of_the_first
from .passes.example import Example
from .passes.examples import Examples
from .passes.pictures import Picture
from .passes.replay import ReplayError, Seen, reread


def picture_pass(examples: Examples, picture: Picture) -> Example:
    """At the assignment's full size, or at the model's own if it cannot be built any smaller.

    The picture stands alone in what is returned; in the pass, noise fills the batch. Raises PictureError
    where the model reads no such picture.
    """
    first = examples.first_draw.sizes
    draw = examples.buildable(Draw(first if is_large(first) else of_the_first(examples), examples.seed))
    trace = examples.trace(draw, torch.cat([picture.at(draw.sizes), draw.image[1:]]))
    example = examples.replayed(draw, trace) or _as_on_noise(examples, draw, trace)
    alone = replace(draw, sizes=replace(draw.sizes, batch=1))
    return replace(example, draw=alone, seen=tuple(one.first_image for one in example.seen))


def _as_on_noise(examples: Examples, draw: Draw, trace: Trace) -> Example:
    """Equal pixels hide where a tensor is; in noise of the same sizes it stands in the same place."""
    walk = locate(examples.trace(draw), draw.sizes, examples.family, accepted=examples.believed_blocks)
    try:
        context = reread(walk, trace, draw.sizes)
    except ReplayError:  # other operations run on this picture
        return examples.located(draw, trace)
    stages = context.stages
    seen = (Seen(one, stages[one.key, one.block], context.of(one.right)) for one in walk.steps)
    return Example(draw, trace, walk, tuple(seen))
