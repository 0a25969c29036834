"""Two functions of the student's as one model: what one makes is what the other computes with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from torch import Tensor, nn
from torch.utils import _pytree as pytree

from ...loading.definitions import FunctionPair
from ...loading.text_keys import values_for


class FunctionModel(nn.Module):
    """Calls ``make`` with what it takes of ``given``, and ``run`` at each pass with what that takes."""

    def __init__(
        self, make: Callable[..., Any], run: Callable[..., Any], pair: FunctionPair, **given: object
    ) -> None:
        super().__init__()
        made = make(**_taken(make, given))
        self.held = made if isinstance(made, nn.Module) else self._registered(made)
        self._run, self._pair, self._beside = run, pair, _taken(run, given)

    def forward(self, image: Tensor) -> object:
        held, beside = _that_has(self._pair.reads, self.held)
        names = self._pair.parameters
        given = dict(zip(names, held)) if len(names) > 1 else {names[0]: held}  # type: ignore[call-overload]  # a tuple
        return self._run(**{**self._beside, **beside, **given, self._pair.image: image})

    def _registered(self, made: object) -> object:
        """The same structure with parameters of this model in the place of tensors of real numbers."""
        if isinstance(made, SimpleNamespace):
            return SimpleNamespace(**self._registered(vars(made)))  # type: ignore[arg-type]  # a dictionary
        leaves, structure = pytree.tree_flatten_with_path(made)
        return pytree.tree_unflatten(
            [self._learned(pytree.keystr(path), one) for path, one in leaves], structure
        )

    def _learned(self, name: str, one: object) -> object:
        if not isinstance(one, Tensor) or not one.is_floating_point():
            return one
        learned = one if isinstance(one, nn.Parameter) else nn.Parameter(one.detach())
        self.register_parameter("_".join("".join(c if c.isalnum() else " " for c in name).split()), learned)
        return learned


def _that_has(keys: frozenset[str], held: object) -> tuple[object, dict[str, object]]:
    """The outermost dictionary with all of these keys, such as that of the first block; else the whole.

    With what the names in the keys stand for there, such as the number of a block.
    """
    inside = [held] if keys else []
    for one in inside:  # which grows
        if isinstance(one, (Mapping, nn.ModuleDict, nn.ParameterDict)):
            if (values := values_for(keys, one)) is not None:
                return one, {name: int(each) if each.isdigit() else each for name, each in values.items()}
            inside += one.values()
        elif isinstance(one, (list, tuple, nn.ModuleList)):
            inside += one
    return held, {}


def _taken(function: Callable[..., Any], given: dict[str, object]) -> dict[str, object]:
    return {name: given[name] for name in inspect.signature(function).parameters if name in given}
