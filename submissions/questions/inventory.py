"""What a model holds when it is fresh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .code_places import Code
from .question import Natural, OfModel


@dataclass(frozen=True)
class ModelTensor:
    """A tensor that a fresh model holds.

    ``kind`` is parameter, buffer, tensor (a plain attribute) or hidden (a parameter that no module knows of).
    """

    name: str
    kind: str
    shape: tuple[Natural, ...]
    computed: bool  # is it the result of an operation that gradients flow through?
    constant: bool  # is it one number everywhere?
    zero: bool
    waves: bool  # is it a table of sines and cosines, or begins as one does?
    spread: float  # standard deviation
    digest: str  # equal where all values are


@dataclass(frozen=True)
class Inventory:
    """What a fresh model holds."""

    tensors: tuple[ModelTensor, ...]
    # by path, the names of its class and those that it is derived from, by their places
    modules: Mapping[str, tuple[str, ...]]
    shared: tuple[str, ...]  # parameters that a second model, built separately, holds too
    codes: tuple[Code, ...] = ()  # what its classes consist of, and what has run in passes so far
    redrawn: tuple[str, ...] = ()  # buffers in which a second model holds other numbers
    repeated: tuple[str, ...] = ()  # paths of lists in which one module with parameters has two places

    def named(self, name: str) -> ModelTensor | None:
        return next((one for one in self.tensors if one.name == name), None)


@dataclass(frozen=True, kw_only=True)
class TakeInventory(OfModel[Inventory]):
    """Builds the model twice, and gives nothing in it other values."""

    name = "inventory"
