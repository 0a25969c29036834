"""Executing a submission's files, and finding the model in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from .question import Question

DEFINED_NOWHERE = "is defined nowhere"  # ends what a call of such a name raises


@dataclass(frozen=True)
class Skipped:
    """A statement or magic that was not executed, or failed; ``text`` is its first line."""

    file: str
    line: int
    text: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Load(Question[tuple[Skipped, ...]]):
    """Executes the submission's ``files``, their bytes by name; the answer is what was left out."""

    name = "load"
    doing = "while it was imported"

    files: Mapping[str, Tensor]
    passed_on: bool = False  # does what is not written yet give back what it is given?


@dataclass(frozen=True)
class Inferred:
    """How the model is built, or the script run, as far as that had to be inferred."""

    notes: tuple[str, ...]
    script: bool = False  # is it run from top to bottom, for want of a model?
    skipped: tuple[Skipped, ...] = ()  # of a script, what was left out of it
    channels_last: bool = False  # does its forward read images as B H W C?


@dataclass(frozen=True, kw_only=True)
class Infer(Question[Inferred]):
    """Finds the model and how to build it, by trying; else runs the files as a script."""

    name = "infer"
    doing = "while its model was built and tried"

    model: str | None  # the name of its class, where the assignment says it
    arguments: Mapping[str, object]  # as ``pins.Pins`` has them
    described: Mapping[str, Any] | None  # sizes to try, of an architecture that the child does not know


@dataclass(frozen=True, kw_only=True)
class Replace(Question[None]):
    """Executes other ``files`` in the place of those; the model is built as it was found to be."""

    name = "replace"
    doing = "while it was imported"

    files: Mapping[str, Tensor]
