"""Child side: code runs as it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.utils.checkpoint
from torch import nn

_OF_CHECKPOINT = ("preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop")


def ignore_compiler() -> None:
    """Make ``torch.compile`` give back what it is given.

    A compiled model computes the same, but its operations could not be recorded one by one, and compiling it
    takes longer than all checks together.
    """
    vars(torch)["compile"] = _as_written
    nn.Module.compile = _nothing  # type: ignore[method-assign, assignment]  # replacing it is the purpose


def _as_written(model: Callable[..., Any] | None = None, **options: object) -> Any:
    """In place of ``torch.compile``, which is called with a model, or decorates with options or without."""
    return _as_written if model is None else model


def _nothing(module: nn.Module, *arguments: object, **options: object) -> None:
    """In place of ``nn.Module.compile``."""


def keep_activations() -> None:
    """Make ``checkpoint`` keep what its function computes.

    Computing it anew in the backward pass saves memory; but no mode of torch's is on there, such as that in
    which all is float64, and one that is entered again bears no ``torch.autograd.grad``.
    """
    vars(torch.utils.checkpoint)["checkpoint"] = _kept


def _kept(
    function: Callable[..., Any], *arguments: Any, use_reentrant: bool | None = None, **named: Any
) -> Any:
    """In place of ``checkpoint``: one that is entered again learns nothing where no argument does."""
    of_function = {name: one for name, one in named.items() if name not in _OF_CHECKPOINT}
    learns = any(isinstance(one, torch.Tensor) and one.requires_grad for one in arguments)
    with torch.set_grad_enabled(torch.is_grad_enabled() and (learns or not use_reentrant)):
        return function(*arguments, **of_function)
