"""Random weights, so that no zero or one of an initialisation hides a difference."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import pytest
import torch
from torch import nn

from vitcheck.reference.sizes import Sizes


@pytest.fixture(autouse=True)
def _seed(enforced: None) -> None:
    torch.manual_seed(0)


@pytest.fixture
def randomise() -> Callable[[nn.Module], None]:
    """Draw every parameter in float64; matrices so that they keep the size of what they multiply."""

    def draw(model: nn.Module) -> None:
        model.double()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=1 / sqrt(parameter[0].numel()) if parameter.ndim > 1 else 0.5)

    return draw


@pytest.fixture
def small() -> Sizes:
    """No two axes equal, and the grid not square."""
    return Sizes(
        batch=2,
        channels=3,
        height=8,
        width=12,
        patch=4,
        embed_dim=20,
        heads=5,
        mlp_dim=28,
        depth=3,
        classes=9,
    )
