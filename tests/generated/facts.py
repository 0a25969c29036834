"""What is true of a program by construction: the variant of the model that it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass
class Facts:
    """Which right model this is. The idioms write it down as they are drawn."""

    part: str = "model"  # model | attention | mlp | embedding
    placement: Literal["pre", "post", "report", "both"] = "pre"
    norm_before: bool = False
    final_norm: Literal["sequence", "representation"] | None = "sequence"
    readout: Literal["token", "mean", "mean of patches"] = "token"
    token: bool = True
    activation: Literal["gelu", "gelu-tanh", "quick-gelu", "relu", "silu"] = "gelu"
    eps: dict[str, float] = field(default_factory=dict)  # of each norm that has another than 1e-5
    shared: bool = False  # one block, used again and again
    rounds: bool = False  # computes a constant in float32, so that it is right to seven digits only
    logits: str = "{out}"  # how the scores are found in what is returned
