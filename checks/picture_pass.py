"""A pass on a picture of the reader's own, with the stages that were located on noise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from ..submissions.trace import Trace
from .drawing import Draw, is_large
from .example import Example
from .locating.locate import locate
from .pictures import Picture
from .replay import ReplayError, Seen, reread

if TYPE_CHECKING:
    from .examination import Examination


def picture_pass(examination: Examination, picture: Picture) -> Example:
    """At the assignment's full size, or at the model's own if it cannot be built any smaller.

    The picture stands alone in what is returned; in the pass, noise fills the batch. Raises PictureError
    where the model reads no such picture.
    """
    first = examination.first_draw.sizes
    draw = examination.buildable(Draw(first if is_large(first) else examination.full, examination.seed))
    trace = examination.trace(draw, torch.cat([picture.at(draw.sizes), draw.image[1:]]))
    example = examination.replayed(draw, trace) or _as_on_noise(examination, draw, trace)
    alone = replace(draw, sizes=replace(draw.sizes, batch=1))
    return replace(example, draw=alone, seen=tuple(one.first_image for one in example.seen))


def _as_on_noise(examination: Examination, draw: Draw, trace: Trace) -> Example:
    """Equal pixels hide where a tensor is; in noise of the same sizes it stands in the same place."""
    walk = locate(examination.trace(draw), draw.sizes)
    try:
        context = reread(walk, trace, draw.sizes)
    except ReplayError:  # other operations run on this picture
        return examination.located(draw, trace)
    stages = context.stages
    seen = (Seen(one, stages[one.key, one.block], context.of(one.right)) for one in walk.steps)
    return Example(draw, trace, walk, tuple(seen))
