"""The equations, written once more: what a right program with these weights computes, step by step.

Knows the variants that `vitcheck.reference` has, and some that it has not; a test compares both. A step can
be replaced by a wrong one: what then comes out is what a program with that mistake computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from .facts import Facts

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "quick-gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "relu": F.relu,
    "silu": F.silu,
}


@dataclass(frozen=True)
class Weights:
    """Weights by role; those of the blocks by role and number. What a program has not is None."""

    of: Callable[[str, int], Tensor | None]
    number: int = 0

    def __call__(self, role: str) -> Tensor:
        found = self.of(role, self.number)
        assert found is not None, role
        return found

    def get(self, role: str) -> Tensor | None:
        return self.of(role, self.number)


@dataclass
class State:
    """What has been computed so far; ``s.S12`` is a stage."""

    weights: Weights
    facts: Facts
    patch: int
    heads: int
    depth: int
    steps: Mapping[str, Step]
    values: dict[str, Tensor] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Tensor:
        return self.values[name]

    def linear(self, x: Tensor, role: str) -> Tensor:
        return F.linear(x, self.weights(f"{role}.weight"), self.weights.get(f"{role}.bias"))

    def norm(self, x: Tensor, role: str) -> Tensor:
        gain, shift = self.weights.get(f"{role}.weight"), self.weights.get(f"{role}.bias")
        return F.layer_norm(x, x.shape[-1:], gain, shift, self.facts.eps.get(role, 1e-5))

    def split(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:-1], self.heads, -1).transpose(1, 2)

    def run(self, *names: str) -> Tensor:
        """Do these steps, and give what the last one gives."""
        for name in names:
            self.values[name] = self.steps[name](self)
        return self.values[names[-1]]


Step: TypeAlias = Callable[[State], Tensor]


def _branch(s: State, x: Tensor, number: str) -> Tensor:
    """What is added of what attention or the MLP gives."""
    scale = s.weights.get(f"scale{number}")
    x = x if scale is None else x * scale
    return s.norm(x, f"norm{number}_after") if s.facts.placement == "both" else x


def _mixed(s: State) -> Tensor:
    if s.facts.placement == "post":
        return s.norm(s.attended, "norm1")
    return s.norm(s.attended, "norm2")


def _block_output(s: State) -> Tensor:
    if s.facts.placement in ("pre", "both"):
        return s.attended + s.branch2
    return s.norm(s.S16 + s.S18, "norm2" if s.facts.placement == "post" else "norm3")


def _tokens(s: State) -> Tensor:
    return torch.cat((s.S05, s.S04), dim=1) if s.facts.token else s.S04


def _positioned(s: State) -> Tensor:
    positions = s.weights.get("positions")
    return s.S06 if positions is None else s.S06 + positions


def stack(s: State) -> Tensor:
    """S22: the blocks, one after the other."""
    x = s.S07
    for number in range(s.depth):
        x = one_block(s, x, number)
    return x


def one_block(s: State, x: Tensor, number: int) -> Tensor:
    """What block ``number`` makes of x."""
    weights = Weights(s.weights.of, 0 if s.facts.shared else number)
    inside = State(weights, s.facts, s.patch, s.heads, s.depth, s.steps, {"S08": x})
    return inside.run(*BLOCK)


def _read(s: State) -> Tensor:
    patches = s.S23[:, 1:] if s.facts.token else s.S23
    x = {"token": s.S23[:, 0], "mean": s.S23.mean(dim=1), "mean of patches": patches.mean(dim=1)}[
        s.facts.readout
    ]
    return s.norm(x, "norm") if s.facts.final_norm == "representation" else x


RIGHT: dict[str, Step] = {
    "S03": lambda s: F.unfold(s.S01, s.patch, stride=s.patch).transpose(1, 2),
    "S04": lambda s: s.linear(s.S03, "patch"),
    "S05": lambda s: (
        s.weights("token").reshape(1, 1, -1).expand(len(s.S01), -1, -1) if s.facts.token else s.S04[:, :0]
    ),
    "S06": _tokens,
    "S07": _positioned,
    "pre": lambda s: s.norm(s.S07, "norm_pre") if s.facts.norm_before else s.S07,
    "read": lambda s: s.S08 if s.facts.placement == "post" else s.norm(s.S08, "norm1"),
    "S09": lambda s: s.split(s.linear(s.read, "query")),
    "S10": lambda s: s.split(s.linear(s.read, "key")),
    "S11": lambda s: s.split(s.linear(s.read, "value")),
    "S12": lambda s: s.S09 @ s.S10.transpose(2, 3) * s.S09.shape[-1] ** -0.5,
    "S13": lambda s: s.S12.softmax(dim=3),
    "S14": lambda s: s.S13 @ s.S11,
    "merged": lambda s: s.S14.transpose(1, 2).flatten(2),
    "S15": lambda s: s.linear(s.merged, "out"),
    "branch1": lambda s: _branch(s, s.S15, "1"),
    "attended": lambda s: s.S08 + s.branch1,
    "S16": _mixed,
    "S17": lambda s: ACTIVATIONS[s.facts.activation](s.linear(s.S16, "fc1")),
    "S18": lambda s: s.linear(s.S17, "fc2"),
    "branch2": lambda s: _branch(s, s.S18, "2"),
    "S20": _block_output,
    "S22": stack,
    "S23": lambda s: s.norm(s.S22, "norm") if s.facts.final_norm == "sequence" else s.S22,
    "S24": _read,
    "S25": lambda s: s.linear(s.S24, "head"),
}
_ATTENTION = ("S09", "S10", "S11", "S12", "S13", "S14", "merged", "S15")
BLOCK = ("read", *_ATTENTION, "branch1", "attended", "S16", "S17", "S18", "branch2", "S20")
_EMBEDDING = ("S03", "S04", "S05", "S06", "S07")


def result(s: State, x: Tensor) -> Tensor:
    """The scores of a model of images, or what a part makes of what it reads."""
    if s.facts.part == "attention":
        s.values["read"] = x
        return s.run(*_ATTENTION)
    if s.facts.part == "mlp":
        s.values["S16"] = x
        return s.run("S17", "S18")
    s.values["S01"] = x
    if s.facts.part == "embedding":
        return s.run(*_EMBEDDING)
    s.run(*_EMBEDDING)
    s.values["S07"] = s.run("pre")
    return s.run("S22", "S23", "S24", "S25")
