"""Child side: calling a student's function with arguments that are known by the roles they play."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ....errors import NotLoaded
from ...loading.definitions import Definition, Definitions
from ...loading.execution import Loaded
from ...loading.finding import pinned_model
from .observing import tensors
from .parameter_names import first_match, normalise

Choices = Mapping[str, Sequence[object]]  # by role, in the order of positional arguments

_MOST_WAYS = 16
_NAMES: dict[str, tuple[str, ...]] = {  # patterns of names without underscores, the plainest first
    "get_attention": ("(get|extract|collect|compute|process).*att", "att.*(maps|weights|matri)"),
    "fuse_heads": ("(fus|merg|avg|averag|mean|combin|reduc|aggreg).*head|head.*(fus|merg|avg|mean|reduc)",),
    "mix_residual": ("resid|identity|skip",),
    "normalise_rows": ("(re)?normali[sz]e|rownorm",),
    "attention_rollout": ("rollout",),
    "class_token_map": (
        "(cls|class).*(map|att|heat|mask)|heatmap|att.*(image|mask|overlay)",
        "upsampl|resiz|mask",
    ),
    "position_similarity": ("pos.*(sim|cos)|(sim|cos).*pos", "similar|cosine"),
    "filter_components": ("pca|princip", "filter|component"),
}
_OTHERS = {"get_attention": "rollout|head|image|heat|mask|class|cls", "class_token_map": "rollout$"}
_ROLES = {
    "mode": r"fus|mode|reduc|aggreg|method|how",
    "share": r"ratio|alpha|weight|share|coef",
    "discard": r"discard|drop|thresh",
    "image": r"^(img|image|input|x)s?(_?tensor)?$",
    "height": r"^((img|image|target|out)_?)?(h|height)$",
    "width": r"^((img|image|target|out)_?)?(w|width)$",
    "grid": r"grid|num_?patches|n_?patches|side|^(gh|gw)$",
    "patch": r"patch",
    "size": r"size|shape|hw|target|resolution",
    "count": r"^[nk]$|count|num|comp|top",
}
_UNNAMED = ("maps", "model")  # roles that stand first, whatever they are called


def functions(loaded: Loaded, key: str, pin: str | None) -> list[Definition]:
    """List what may be the exercise ``key``, the likeliest first.

    Raises NotLoaded where the pinned name is not defined.
    """
    definitions = Definitions(loaded)
    if pin:
        return [pinned_model(definitions, pin)]
    found = [one for one in definitions.all.values() if isinstance(one.node, ast.FunctionDef)]
    ranked = [(_rank(one.name, key), one) for one in found]
    return [one for rank, one in sorted(ranked, key=lambda pair: pair[0]) if rank < len(_NAMES[key])]


def _rank(name: str, key: str) -> int:
    is_other = key in _OTHERS and re.search(_OTHERS[key], normalise(name))
    return len(_NAMES[key]) if is_other else first_match(name, _NAMES[key])


def call(definition: Definition, given: Choices) -> tuple[list[Tensor], list[str]]:
    """Return every tensor or array in what the function returns, and the roles that it was given.

    Of the choices for a role the first is taken with which nothing is raised; else what the first raised
    comes through. Raises NotLoaded where it needs an argument that plays no known role.
    """
    roles = _bound(definition, given)
    function: Any = definition.value
    failure: BaseException | None = None
    for way in itertools.islice(itertools.product(*(given[role] for role in roles.values())), _MOST_WAYS):
        try:
            result = function(**dict(zip(roles, _copies(way), strict=True)))
            return [one.detach() for one in tensors(_as_tensors(result))], list(roles.values())
        except (Exception, SystemExit) as error:
            failure = failure or error
    raise failure or TypeError("it takes no arguments")


def _bound(definition: Definition, given: Choices) -> dict[str, str]:
    """Say which role each parameter plays that needs a value, or that is known to play one."""
    function: Callable[..., object] = definition.value  # type: ignore[assignment]  # found as a function
    left, found = list(given), {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        optional = parameter.default is not parameter.empty
        role = _role(parameter.name, left)
        if role is None and not optional:
            role = next(iter(left), None)
        if role is not None and not (optional and isinstance(parameter.default, bool)):
            found[parameter.name] = role
            left.remove(role)
        elif not optional:
            raise NotLoaded(
                f"{definition.name} needs an argument {parameter.name!r}, but the exercise gives none for it",
                definition.frame,
            )
    return found


def _role(name: str, left: Sequence[str]) -> str | None:
    if left and left[0] in _UNNAMED and not ("model" in left and re.search(_ROLES["image"], name.lower())):
        return left[0]
    matching = (role for role in left if role in _ROLES and re.search(_ROLES[role], name.lower()))
    return next(matching, None)


def _copies(way: Sequence[object]) -> Iterator[object]:
    """Yield what is given anew, so that a function may write into it."""
    for given in way:
        if isinstance(given, Tensor):
            yield given.clone()
        elif isinstance(given, list):
            yield list(_copies(given))
        else:
            yield given


def _as_tensors(value: object) -> object:
    """Arrays count as tensors."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return torch.as_tensor(np.ascontiguousarray(value))
    if isinstance(value, (list, tuple)):
        return [_as_tensors(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _as_tensors(one) for key, one in value.items()}
    return value
