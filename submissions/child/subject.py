"""Child side: what requests are about: the model, a script, a component, and a model of ours."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from ...reference.model_sizes import ModelSizes
from ..questions.question import OfModel, OfSubject
from ..questions.randomise import held_by, named_tensors, randomise_held, seed_random_state
from .building.calls.shortening import Shortening
from .building.components.component_recipes import ComponentRecipe
from .building.recipe import Recipe
from .building.trial_sizes import SMALL
from .dtypes import default_dtype
from .loading.definitions import Definition
from .loading.execution import Loaded
from .scripts.scripts import Script
from .tracing.made_at import parameters_noted

if TYPE_CHECKING:
    from .sample_models import Sample

DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}


class Submission:
    """What has been loaded: one submission a process."""

    loaded: Loaded
    recipe: Recipe
    components: ClassVar[dict[str, list[ComponentRecipe]]] = {}
    functions: ClassVar[dict[str, list[Definition]]] = {}
    samples: ClassVar[Mapping[str, Sample]] = {}  # models of ours, where they are asked for
    script: Script | None = None  # where there is no model class to build, or it is not what is shown
    small: ClassVar[ModelSizes] = SMALL  # to try a model at; of the class that describes the architecture
    shortening: Shortening | None  # where the code fixes how many blocks there are


def subject_of(asked: OfSubject[Any]) -> Recipe | Script | ComponentRecipe | Sample:
    """What is asked about: the model or script, a model of ours, or a candidate for a component."""
    if asked.sample is not None:
        return Submission.samples[asked.sample]
    if asked.component is None:
        return Submission.script or Submission.recipe
    key, number = asked.component
    return Submission.components[key][number]


def shortening_for(asked: OfSubject[Any]) -> Shortening | None:
    """How blocks are left out of what is asked about, if they are."""
    return Submission.shortening if isinstance(subject_of(asked), Recipe) and not asked.whole else None


def built(asked: OfModel[Any]) -> nn.Module:
    """A model or component at sizes that ``_sizes`` gave."""
    subject = subject_of(asked)
    assert not isinstance(subject, Script)  # which the parent knows, and asks for no model
    fitted: Any = subject.sizes_for(asked.sizes)
    with parameters_noted():
        model = subject.build(fitted)
    if (shorter := shortening_for(asked)) is not None:
        shorter.shorten(model, asked.sizes.depth)
    return model


def widened(sizes: ModelSizes, wider: int) -> ModelSizes:
    """Sizes that Sizes itself refuses, since the heads do not divide the width."""
    found = copy(sizes)
    object.__setattr__(found, "embed_dim", sizes.embed_dim + wider)
    return found


def model_of(
    asked: OfModel[Any],
    *,
    dtype: torch.dtype = torch.float64,
    mode: str = "eval",
    wider: int = 0,
    drawn: int | None = None,
    fixed: Mapping[str, Tensor] = MappingProxyType({}),
) -> nn.Module:
    """The model with random values, which are ``drawn`` from a seed of their own or from the question's."""
    seed_random_state(asked.seed)  # what is no parameter keeps the numbers that it is built with
    with default_dtype(dtype):
        model = Submission.recipe.build(widened(asked.sizes, wider)) if wider else built(asked)
        model.train(mode == "train")
        modules, held = held_by(model)
        for module in {one for _, one in modules} - {*model.modules()}:
            module.train(
                mode == "train"
            )  # that a model does not reach what it keeps in lists is told by itself
        if any(one.is_floating_point() and one.dtype != dtype for _, one in held):
            model.to(dtype)
            held = named_tensors(model)
    for _, tensor in held:
        if tensor.is_floating_point() and not isinstance(tensor, nn.Parameter) and dtype == torch.float64:
            tensor.data = tensor.data.to(dtype)  # plain attributes too: they stop a float64 run otherwise
    randomise_held(held, drawn or asked.seed, fixed)
    seed_random_state(asked.seed)
    return model
