"""The equations, written once more: what a right program with these weights computes.

Knows the variants that `vitcheck.reference` has, and some that it has not; a test compares both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from .facts import Facts

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
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

    def linear(self, x: Tensor, role: str) -> Tensor:
        return F.linear(x, self(f"{role}.weight"), self.get(f"{role}.bias"))

    def norm(self, x: Tensor, role: str, facts: Facts) -> Tensor:
        eps = facts.eps.get(role, 1e-5)
        return F.layer_norm(x, x.shape[-1:], self.get(f"{role}.weight"), self.get(f"{role}.bias"), eps)


def attention(x: Tensor, weights: Weights, heads: int) -> Tensor:
    """S15 of what attention reads."""
    q, k, v = (weights.linear(x, role).unflatten(-1, (heads, -1)).transpose(1, 2) for role in ("query", "key", "value"))
    shares = (q @ k.transpose(2, 3) * q.shape[-1] ** -0.5).softmax(dim=3)
    return weights.linear((shares @ v).transpose(1, 2).flatten(2), "out")


def mlp(x: Tensor, weights: Weights, facts: Facts) -> Tensor:
    """S18 of S16."""
    return weights.linear(_ACTIVATIONS[facts.activation](weights.linear(x, "fc1")), "fc2")


def block(x: Tensor, weights: Weights, facts: Facts, heads: int) -> Tensor:
    """S20 of S08."""
    norm = lambda x, role: weights.norm(x, role, facts)  # noqa: E731  # said six times below
    if facts.placement == "post":
        x = norm(x + attention(x, weights, heads), "norm1")
        return norm(x + mlp(x, weights, facts), "norm2")
    attended = x + attention(norm(x, "norm1"), weights, heads)
    read = norm(attended, "norm2")
    if facts.placement == "report":
        return norm(read + mlp(read, weights, facts), "norm3")
    return attended + mlp(read, weights, facts)


def embedding(images: Tensor, weights: Weights, facts: Facts, patch: int) -> Tensor:
    """S07 of S01. Patches are flattened channel first."""
    tokens = weights.linear(F.unfold(images, patch, stride=patch).transpose(1, 2), "patch")
    positions = weights.get("positions")
    if facts.token:
        tokens = torch.cat((weights("token").reshape(1, 1, -1).expand(len(images), -1, -1), tokens), dim=1)
    return tokens if positions is None else tokens + positions


def model(images: Tensor, weights: Weights, facts: Facts, patch: int, heads: int, depth: int) -> Tensor:
    """The class scores."""
    x = embedding(images, weights, facts, patch)
    x = weights.norm(x, "norm_pre", facts) if facts.norm_before else x
    for number in range(depth):
        x = block(x, Weights(weights.of, 0 if facts.shared else number), facts, heads)
    x = weights.norm(x, "norm", facts) if facts.final_norm == "sequence" else x
    patches = x[:, 1:] if facts.token else x
    x = {"token": x[:, 0], "mean": x.mean(dim=1), "mean of patches": patches.mean(dim=1)}[facts.readout]
    x = weights.norm(x, "norm", facts) if facts.final_norm == "representation" else x
    return weights.linear(x, "head")
