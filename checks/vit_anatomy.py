"""How the stages of a Vision Transformer are found and judged."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from ..reference.sizes import Sizes
from . import drawing
from .anatomy import Anatomy
from .invariants import INVARIANTS
from .kept.measures import MEASURES
from .locating.bridge_readout import settle_odd_readout
from .locating.embedding import embedding
from .locating.forms import CLASS_PROBABILITIES
from .locating.reached import OF_VIT
from .locating.readout import settle_readout
from .locating.vit import about_vit
from .locating.whole import known_by_the_scores
from .outputs import OUTPUTS
from .parameter_count import vit_parameters
from .properties import PROPERTIES


def answers(logits: Tensor) -> Iterator[Tensor]:
    """The scores, what may stand for their probabilities, and the class that they choose."""
    yield logits
    yield from (form.function(logits) for form in CLASS_PROBABILITIES)
    yield logits.argmax(-1).double()


VIT_ANATOMY = Anatomy(
    embed=embedding,
    read_out=settle_readout,
    read_out_oddly=settle_odd_readout,
    about=about_vit,
    known_otherwise=known_by_the_scores,
    steps_on=OF_VIT,
    draw=drawing.vit_sizes,
    suits=drawing.suits,
    tells_apart=drawing.tells_apart,
    fresh=Sizes(height=16, width=16, patch=4, embed_dim=64, heads=4, mlp_dim=256, depth=3, classes=10),
    invariants=INVARIANTS,
    properties=PROPERTIES,
    answers=answers,
    measures=MEASURES,
    outputs=OUTPUTS,
    parameters=vit_parameters,
)
