"""Child side: what a script runs in."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torchvision.models import VisionTransformer
from torchvision.transforms._presets import ImageClassification

from ....reference.sizes import Sizes
from ...questions.randomise import seed_random_state
from ..building.calls.shortening import BLOCKS
from ..building.recipe import silence
from ..dtypes import default_dtype
from .lending import lent
from .script_tracing import TrainingBegins

_SEED = 0


@contextmanager
def prepared(sizes: Sizes, numbers: Mapping[int, int], shortened: bool) -> Iterator[None]:
    """What a script runs in: seeded, in float64, with an image of these sizes lent to it.

    Other ``numbers`` are put into the library's ViT; if ``shortened``, lists of blocks are cut short.
    """
    random.seed(_SEED)
    np.random.seed(_SEED)
    seed_random_state(_SEED)
    fast = torch.backends.mha.get_fastpath_enabled()
    # the fast path hides the stages of library attention under no_grad
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        # the mathematical path takes the fused kernel apart, so that scores and probabilities exist
        with (
            default_dtype(torch.float64),
            sdpa_kernel(SDPBackend.MATH),
            lent(sizes.height, sizes.width),
            _renumbered(numbers),
            _cut_short(shortened),
            mock.patch.object(torch.Tensor, "backward", _begin_training),
            mock.patch.object(functional, "conv2d", partial(_convolved, functional.conv2d)),
            silence(),
        ):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def _convolved(convolve: Any, image: torch.Tensor, weight: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """In float64 what NumPy and files give as float32: a convolution refuses two of them at once."""
    return convolve(image.to(weight.dtype), weight, *args, **kwargs)


def _begin_training(loss: torch.Tensor, *args: Any, **kwargs: Any) -> None:
    raise TrainingBegins("the script trains from here on")


@contextmanager
def _renumbered(numbers: Mapping[int, int]) -> Iterator[None]:
    """The library's ViT and the transforms that come with its weights have other numbers while it lasts."""
    with ExitStack() as stack:
        for library_class in (VisionTransformer, ImageClassification):
            stack.enter_context(_with_numbers(library_class, numbers))
        yield


def _with_numbers(library_class: type, numbers: Mapping[int, int]) -> AbstractContextManager[object]:
    construct = library_class.__init__  # type: ignore[misc]  # patched on the class, and only there

    def constructing(self: object, *arguments: Any, **options: Any) -> None:
        replaced = set(numbers.values()) - numbers.keys()
        if replaced.isdisjoint(one for one in options.values() if type(one) is int):  # else the code did it
            options = {
                name: numbers.get(one, one) if type(one) is int else one for name, one in options.items()
            }
        construct(self, *arguments, **options)

    return mock.patch.object(library_class, "__init__", constructing)


@contextmanager
def _cut_short(shortened: bool) -> Iterator[None]:
    """Lists of alike modules hold no more than some of them while it lasts."""
    if not shortened:
        yield
        return
    whole_list, whole_sequence = nn.ModuleList.__init__, nn.Sequential.__init__

    def as_list(self: nn.ModuleList, modules: Any = None) -> None:
        whole_list(self, modules and _some(list(modules)))

    def as_sequence(self: nn.Sequential, *modules: Any) -> None:
        if len(modules) == 1 and isinstance(modules[0], dict):
            kept = _some(list(modules[0].values()))
            modules = (type(modules[0])(list(modules[0].items())[: len(kept)]),)
        whole_sequence(self, *(_some(list(modules)) if len(modules) > 1 else modules))

    with (
        mock.patch.object(nn.ModuleList, "__init__", as_list),
        mock.patch.object(nn.Sequential, "__init__", as_sequence),
    ):
        yield


def _some(modules: list[Any]) -> list[Any]:
    alike = len({type(one) for one in modules}) == 1
    return modules[:BLOCKS] if alike else modules
