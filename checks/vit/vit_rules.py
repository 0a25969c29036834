"""What is right in a Vision Transformer beside its equations."""

from __future__ import annotations

from ..examining.measures import MEASURES
from ..rules.invariants import INVARIANTS
from ..rules.kinds.output import OUTPUTS
from ..rules.kinds.parameters import vit_parameters
from ..rules.properties import PROPERTIES
from ..rules.rulebook import Rulebook

VIT_RULES = Rulebook(
    invariants=INVARIANTS,
    properties=PROPERTIES,
    measures=MEASURES,
    outputs=OUTPUTS,
    parameters=vit_parameters,
)
