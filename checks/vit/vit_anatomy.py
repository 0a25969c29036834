"""How the stages of a Vision Transformer are found."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from torch import Tensor

from ..locating.anatomy import Anatomy, Input
from ..locating.best_first import Option, later
from ..locating.forms import CLASS_PROBABILITIES
from ..locating.walk import Walk
from ..locating.wiring.operators import UNKNOWN_NORM
from ..locating.wiring.unknown import unknown_price
from .about_vit import about_vit
from .class_token import about_token
from .embedding import embedding
from .known_by_scores import known_by_the_scores
from .readout import settle_readout
from .unknown_readout import unknown_readout

_RATHER = 0.05  # by which what is read out is rather unknown than what the last block gives


def answers(logits: Tensor) -> Iterator[Tensor]:
    """The scores, what may stand for their probabilities, and the class that they choose."""
    yield logits
    yield from (form.function(logits) for form in CLASS_PROBABILITIES)
    yield logits.argmax(-1).double()


def _read_out(walk: Walk, read: Input) -> Iterator[Option]:
    yield from (
        Option(float(wrong), partial(settle_readout, read=read, wrong=wrong)) for wrong in (False, True)
    )
    x, ids = read
    if not walk.ends_early and walk.blocks and not ids:
        unknown = later(unknown_price(walk) - _RATHER, partial(unknown_readout, x=x), UNKNOWN_NORM)
        yield Option(0.0, lambda _: True, (lambda _: (unknown,),))


VIT_ANATOMY = Anatomy(
    embed=embedding,
    read_out=_read_out,
    answers=answers,
    about_learned=about_token,
    about=about_vit,
    known_otherwise=known_by_the_scores,
)
