"""Two functions of the student's as one model: what one makes is what the other computes with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import is_dataclass
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

    def _registered(self, made: object, path: str = "") -> object:
        """The same structure with parameters of this model in the place of tensors of real numbers."""
        leaves, structure = pytree.tree_flatten_with_path(made)
        every = [self._learned(path + pytree.keystr(below), one) for below, one in leaves]
        return pytree.tree_unflatten(every, structure)

    def _learned(self, path: str, one: object) -> object:
        if _has_fields(one):
            made = copy(one)
            vars(made).update(
                {name: self._registered(held, f"{path}.{name}") for name, held in vars(one).items()}
            )
            return made
        if not isinstance(one, Tensor) or not one.is_floating_point():
            return one
        learned = one if isinstance(one, nn.Parameter) else nn.Parameter(one.detach())
        self.register_parameter("_".join("".join(c if c.isalnum() else " " for c in path).split()), learned)
        return learned


def _that_has(keys: frozenset[str], held: object) -> tuple[object, dict[str, object]]:
    """The outermost object with all of these keys, such as the dictionary of the first block; else the whole.

    With what the names in the keys stand for there, such as the number of a block.
    """
    inside = [held] if keys else []
    for one in inside:  # which grows
        named = _by_name(one)
        if named is not None:
            if (values := values_for(keys, named)) is not None:
                return one, {name: int(each) if each.isdigit() else each for name, each in values.items()}
            inside += named.values()
        elif isinstance(one, (list, tuple, nn.ModuleList)):
            inside += one
    return held, {}


def _by_name(one: Any) -> Mapping[str, object] | None:
    """What it holds, by key or by the name of a field; None of what has neither."""
    if isinstance(one, (Mapping, nn.ModuleDict, nn.ParameterDict)):
        return one  # type: ignore[return-value]  # as good as a mapping
    if isinstance(one, tuple) and hasattr(one, "_fields"):
        return dict(zip(one._fields, one, strict=True))
    return vars(one) if _has_fields(one) else None


def _has_fields(one: object) -> bool:
    return isinstance(one, SimpleNamespace) or (is_dataclass(one) and not isinstance(one, type))


def _taken(function: Callable[..., Any], given: dict[str, object]) -> dict[str, object]:
    return {name: given[name] for name in inspect.signature(function).parameters if name in given}
