"""The catalogue of known mistakes, read from ``mistakes.toml``. Imports no torch."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, NoReturn

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Mistake:
    """One thing that people get wrong; the head of ``mistakes.toml`` says what each field means."""

    id: str
    stage: str  # the key of a stage, or "model"
    kind: Literal["error", "variant", "layout"]
    title: str
    hint: str
    explanation: str
    confused_with: tuple[str, ...]


@cache
def mistakes() -> Mapping[str, Mistake]:
    """Return every known mistake by its id, in the order of the pipeline."""
    return read_mistakes(files("vitcheck.checks").joinpath("mistakes.toml").read_text("utf-8"))


def read_mistakes(text: str) -> Mapping[str, Mistake]:
    """Return the mistakes that TOML text lists, by id. Raises TypeError where an entry lacks a field."""
    entries = tomllib.loads(text)
    return MappingProxyType({name: _mistake(name, **entry) for name, entry in entries.items()})


def mistake(name: str) -> Mistake:
    """Return the mistake with the id ``name``. Raises ValueError, naming near ids, where there is none."""
    return mistakes()[name] if name in mistakes() else near_to(name, mistakes())


def near_to(name: str, known: Mapping[str, Mistake]) -> NoReturn:
    """Raise ValueError, naming the ids of ``known`` that are near."""
    near = difflib.get_close_matches(name, known)
    advice = f"did you mean {' or '.join(near)}?" if near else "ids are words such as scale-missing"
    raise ValueError(f"{name!r} is no known mistake; {advice}")


def _mistake(name: str, *, explanation: str, confused_with: tuple[str, ...] = (), **texts: Any) -> Mistake:
    one_line = " ".join(explanation.split())  # the file wraps it
    return Mistake(id=name, explanation=one_line, confused_with=tuple(confused_with), **texts)
