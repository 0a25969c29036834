"""Child side: components that are no module of one tensor by themselves, as one that is traced.

Attention of a query, a key and a value takes the three in a stack; one attention head is made as often as a
model has heads, side by side; what takes no batch is given one after the other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from .....reference.components import Component
from .....reference.sizes import Sizes
from ...loading.drawn_scripts import ScriptModule
from ..calls.observing import stacked, tensors
from .functions import FunctionModule

Way = Callable[[Sizes], nn.Module]
_INITIALS = "qkv"  # of the three names, where they tell


@dataclass(frozen=True)
class _Form:
    """The layout in which code takes a query, a key and a value, and how what it gives is laid out again."""

    there: Callable[[Tensor], Tensor]
    back: Callable[[Tensor, torch.Size], Tensor]


_FORMS = (
    _Form(lambda x: x, lambda x, _: x),
    _Form(lambda x: x.flatten(0, 1), lambda x, lead: x.reshape(*lead, *x.shape[1:])),  # no axis of heads
)


class _SideBySide(nn.Module):
    """As many as there are heads, each of which reads all of the input."""

    def __init__(self, heads: list[nn.Module], shape: tuple[int, ...]) -> None:
        super().__init__()
        self.heads, self._shape = nn.ModuleList(heads), shape

    def forward(self, x: Tensor) -> Tensor:
        return torch.stack([self._own(head(x)) for head in self.heads], 1)

    def _own(self, given: object) -> Tensor:
        """What attention gives, where its probabilities come with it."""
        found = list(tensors(given))
        return next((one for one in found if one.shape == self._shape), found[0])


class _OneByOne(nn.Module):
    """Takes a batch, of which each goes through it by itself."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, batch: Tensor) -> Tensor:
        return stacked(map(self.module, batch))


class _Unstacked(nn.Module):
    """Takes its inputs in a stack."""

    def __init__(self, module: nn.Module, inputs: int, form: _Form) -> None:
        super().__init__()
        vars(module).pop("forward", None)  # as it is written, and not as it takes an image alone
        self.module, self._form = module, form
        names = _demanded(module, inputs)
        self._roles = _roles(names[:inputs])
        self._others = [None] * len(names[inputs:])  # a mask, say, which hides nothing

    def forward(self, stack: Tensor) -> list[Tensor]:
        parts = [self._form.there(stack[role]) for role in self._roles]
        found = tensors(self.module(*parts, *self._others))
        return [self._form.back(one, stack.shape[1:3]) for one in found]


def traced_as(row: Component) -> list[Callable[[Way], Way]]:
    """What makes a way to build such a component a way to build what is traced; any of them may be meant."""
    if row.is_of_one_head:
        return [lambda way: partial(_side_by_side, row, way)]
    if row.inputs > 1:
        return [partial(_unstacked, row, form) for form in _FORMS]
    return [lambda way: way]


def one_by_one(way: Way) -> Way:
    """What makes what takes no batch a way to build what does."""
    return lambda sizes: _OneByOne(way(sizes))


def _side_by_side(row: Component, way: Way, sizes: Sizes) -> nn.Module:
    batch, _, *rest = row.output_shape(sizes)
    return _SideBySide([way(sizes) for _ in range(sizes.heads)], (batch, *rest))


def _unstacked(row: Component, form: _Form, way: Way) -> Way:
    return lambda sizes: _Unstacked(way(sizes), row.inputs, form)


def _demanded(module: nn.Module, inputs: int) -> list[str]:
    """Names of the first so many arguments of its forward, and of others that have no default."""
    if isinstance(module, (FunctionModule, ScriptModule)):
        return list(module.inputs)
    every = inspect.signature(module.forward).parameters.values()
    places = [one for one in every if one.kind is one.POSITIONAL_OR_KEYWORD]
    return [one.name for number, one in enumerate(places) if number < inputs or one.default is one.empty]


def _roles(names: Sequence[str]) -> list[int]:
    """Which of query, key and value each of these is: as their names tell, else in this order."""
    initials = [name.lower().lstrip("_")[:1] for name in names]
    in_order = sorted(initials) == sorted(_INITIALS)
    return [_INITIALS.index(one) for one in initials] if in_order else [*range(len(names))]
