"""Child side: code runs as it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


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
