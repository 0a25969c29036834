"""Other sizes than usual: one block, another image, a width that the heads do not divide."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor
from torch.nn import functional as F

from ....submissions.errors import StudentCodeFailed
from ....submissions.questions.plain_passes import Passes
from ...examining.drawing import Draw
from ...examining.examination import Examination
from ...examining.full_size import full_sizes
from ...examining.verdicts import CheckFailed, NotApplicable, NotAsked
from ...locating.comparing import far
from . import holds
from .passes import example_of, leaves_of, passes_of, scores_of, some

_ODD_WIDTH = 24, 4, 2  # width, heads, and what is added so that they no longer divide it


@holds(order=80)
def one_block(examination: Examination) -> None:
    """A model with depth 1 runs.

    Else: A model with depth 1 fails
    """
    draw = example_of(examination).draw
    single = examination.buildable(replace(draw, sizes=replace(draw.sizes, depth=1)))
    if single.sizes.depth != 1:
        raise NotApplicable("the number of blocks is hard-coded")
    passes = examination.forward(single)
    if passes.error is not None:
        text = f"with depth 1 the model fails: {passes.error}"
        raise CheckFailed(text, ("hard-coded-first-blocks",), single, passes.error.frame)


@holds(order=80)
def number_of_blocks(examination: Examination) -> None:
    """The model has as many blocks as the assignment asks for, and runs no more.

    Else: The number of blocks is wrong
    """
    example = example_of(examination)
    if examination.session.is_script:
        raise NotAsked("a script runs at its own sizes")
    wanted = full_sizes(examination)
    found = examination.session.whole_sizes_for(wanted).depth
    if found != wanted.depth and examination.assignment.asks_sizes:
        raise CheckFailed(f"expected {wanted.depth} blocks, got {found}")
    asked, ran = example.draw.sizes.depth, example.walk.blocks
    if example.walk.unexplained is None and ran > asked:
        text = f"expected {asked} blocks, but {ran} run"
        raise CheckFailed(text, ("depth-off-by-one",), example.draw)


@holds(order=80)
def width_divided_by_heads(examination: Examination) -> None:
    """A width that the number of heads does not divide is rejected, or no features are lost.

    Else: Features are lost where the number of heads does not divide the width
    """
    example = example_of(examination)
    width, heads, more = _ODD_WIDTH
    wanted = replace(example.draw.sizes, embed_dim=width, heads=heads)
    draw = examination.buildable(replace(example.draw, sizes=wanted))
    if draw.sizes != wanted:
        raise NotApplicable("the width or the number of heads is hard-coded")
    try:
        passes = examination.forward(draw, wider=more, backward=True)
    except StudentCodeFailed:
        return
    names = {
        leaf.name
        for role in example.walk.roles
        if ".projection" in role or role.endswith(".out")
        for leaf in leaves_of(example, role)
    }
    idle = [name for name in sorted(names & passes.gradients.keys()) if _has_idle_rows(passes, name)]
    if passes.error is None and idle:
        text = f"with width {width + more} and {heads} heads, parts of {some(idle)} have no effect"
        raise CheckFailed(text, ("head-dim-floor",), draw)


def _has_idle_rows(passes: Passes, name: str) -> bool:
    gradient = passes.gradients[name]
    return gradient.largest > 0 and gradient.idle > 0


@holds(order=80)
def other_resolution(examination: Examination) -> None:
    """The position embedding is resampled for another image size.

    Else: The position embedding is not resampled for another image size
    """
    draw = example_of(examination).draw
    image = draw.image.mT
    if _accepted(examination, "pos-grid-not-resampled"):
        raise NotAsked("the assignment asks for one image size")
    if image.shape == draw.image.shape:
        raise NotApplicable("the code only takes square images")
    trace = examination.trace(draw, image.contiguous())
    if trace.error is None and not any(
        "upsample" in one.op or "grid_sampler" in one.op for one in trace.records
    ):
        text = "an image with rows and columns swapped gets the position embedding unchanged"
        examination.variant("pos-grid-not-resampled", text)


@holds(order=80)
def uneven_image(examination: Examination) -> None:
    """An image that the patch size does not divide is rejected, or read to its last row.

    Else: The last rows of an image are dropped without a message
    """
    draw = example_of(examination).draw
    if _accepted(examination, "silent-floor-crop"):
        raise NotAsked("the assignment asks for images that patches divide")
    image = F.pad(draw.image, (0, 0, 0, 1))
    if not _moves(examination, draw, image):
        text = "the last row of an image with one row too many is dropped without a message"
        examination.variant("silent-floor-crop", text)


def _moves(examination: Examination, draw: Draw, image: Tensor) -> bool:
    """Does the model refuse the image, or change its scores with the last row?"""
    if examination.forward(draw, [image]).error is not None:
        return True
    edited = image.clone()
    edited[:, :, -1] = 1
    scores = passes_of(examination, draw, [image, edited])
    return far(scores_of(examination, scores), scores_of(examination, scores, 1))


def _accepted(examination: Examination, id: str) -> bool:
    return not examination.counts(id)
