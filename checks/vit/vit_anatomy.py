"""How the stages of a Vision Transformer are found."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from ..locating.anatomy import Anatomy
from ..locating.forms import CLASS_PROBABILITIES
from ..locating.resync.reached import OF_VIT
from ..locating.resync.whole import known_by_the_scores
from .about_vit import about_vit
from .bridge_readout import settle_odd_readout
from .embedding import embedding
from .readout import settle_readout


def answers(logits: Tensor) -> Iterator[Tensor]:
    """The scores, what may stand for their probabilities, and the class that they choose."""
    yield logits
    yield from (form.function(logits) for form in CLASS_PROBABILITIES)
    yield logits.argmax(-1).double()


VIT_ANATOMY = Anatomy(
    embed=embedding,
    read_out=settle_readout,
    answers=answers,
    read_out_oddly=settle_odd_readout,
    about=about_vit,
    known_otherwise=known_by_the_scores,
    steps_on=OF_VIT,
)
