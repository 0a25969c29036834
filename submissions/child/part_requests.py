"""Child side: what answers questions about single components and exercises."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from ..questions.part_questions import (
    CallFunction,
    FindComponents,
    FindFunctions,
    Fitting,
    FoundDefinition,
    FunctionOutputs,
)
from ..questions.question import OfModel
from ..questions.randomise import seed_random_state
from .answering import answered_by, sizes_in
from .building.calls.calling import call, functions
from .building.components.component_recipes import candidates
from .dtypes import default_dtype
from .subject import Submission, model_of


def _components(asked: FindComponents) -> tuple[Fitting, ...]:
    """By its name and by trying."""
    whole = getattr(Submission, "recipe", None)  # where that is asked for, too
    found = candidates(Submission.loaded, asked.key, asked.pin, whole)
    Submission.components[asked.key] = found
    return tuple(one.describe() for one in found)


def _functions(asked: FindFunctions) -> tuple[FoundDefinition, ...]:
    """By its name."""
    found = Submission.functions[asked.key] = functions(Submission.loaded, asked.key, asked.pin)
    return tuple(FoundDefinition(one.name, one.frame) for one in found)


def _call(asked: CallFunction) -> FunctionOutputs:
    seed_random_state(asked.seed)
    given = {role: [_given(one) for one in row] for role, row in asked.given.items()}
    with default_dtype(torch.float64), sdpa_kernel(SDPBackend.MATH):
        found, roles = call(Submission.functions[asked.key][asked.number], given)
    dtypes = tuple(str(one.dtype).removeprefix("torch.") for one in found)
    return FunctionOutputs(tuple(one.to(torch.float64).contiguous() for one in found), dtypes, tuple(roles))


def _given(one: Any) -> object:
    """A list of anything but tensors was a tuple; what has fields is a model."""
    if isinstance(one, list) and not any(isinstance(part, Tensor) for part in one):
        return tuple(one)
    if isinstance(one, dict):
        return model_of(OfModel(**{**one, "sizes": sizes_in(one["sizes"])}))
    return one


HANDLERS = {
    **answered_by(FindComponents, _components),
    **answered_by(FindFunctions, _functions),
    **answered_by(CallFunction, _call),
}
