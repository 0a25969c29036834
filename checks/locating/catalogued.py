"""Wrong equations that stand in the catalogue, beside the texts of their mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from inspect import signature

import torch
from torch import Tensor

from ...reference import equations
from ..architecture.catalogue import Mistake, mistakes

Equation = Callable[..., Tensor]


def catalogued(name: str) -> Iterator[tuple[Mistake, Equation]]:
    """Each mistake that says what this function of the reference would return, with each such function."""
    arguments = ", ".join(signature(getattr(equations, name)).parameters)
    for known in mistakes().values():
        for wrong in known.equation.get(name, ()):  # as much a part of this package as its code
            yield known, eval(f"lambda {arguments}: {wrong}", {"torch": torch, "math": math})
