"""The words of pages, pictures and the terminal, from ``words.toml``. What a check says is its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from types import MappingProxyType

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_VOICES: ContextVar[tuple[str, ...]] = ContextVar("voices", default=())


@contextmanager
def speaking_of(*subjects: str) -> Iterator[None]:
    """Within it, the tables of the catalogue called ``subjects`` go before its other texts."""
    before = _VOICES.set(subjects)
    try:
        yield
    finally:
        _VOICES.reset(before)


def say(key: str, **values: object) -> str:
    """The text of ``key``, such as "diagram.title", with ``values`` in its places; KeyError without one."""
    own = (f"{subject}.{key}" for subject in _VOICES.get())
    return words()[next((one for one in own if one in words()), key)].format(**values)


def count(number: int, noun: str) -> str:
    """Such as "1 submission", "2,000 submissions"; ``noun`` is a key of the catalogue's table "count"."""
    return say(f"count.{noun}{'' if number == 1 else 's'}", number=f"{number:,}")


@cache
def words() -> Mapping[str, str]:
    """Every text by its key."""
    tables = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
    return MappingProxyType(
        {f"{table}.{name}": text for table, texts in tables.items() for name, text in texts.items()}
    )
