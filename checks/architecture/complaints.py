"""What is wrong in a TOML file, in plain words and with the line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches

from pydantic import ValidationError
from pydantic_core import ErrorDetails

UNSEEN = "by_id"  # a field that holds what in the file stands directly in the table

_PART = r"""(?:"[^"]*"|'[^']*'|[\w-]+)"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_TABLE = re.compile(rf"\s*\[\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_WANTED = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "too_short": "a list with something in it",
    "dict_type": "a table",
    "model_type": "a table",
    "dataclass_type": "a table",
}


def near(name: str, known: Iterable[str]) -> str:
    """Return advice on which of the ``known`` names is meant."""
    names = list(known)
    close = get_close_matches(name, names, n=3)
    return f"did you mean {' or '.join(close)}?" if close else f"there is {', '.join(names)}"


def complaints(
    error: ValidationError, text: str, keys: Callable[[tuple[str, ...]], list[str]]
) -> Iterator[str]:
    """Yield a line such as ``line 3: examples: must be a whole number, and is 'ten'`` for each thing wrong.

    ``keys`` gives the keys that a table may hold, by the keys that lead to the table.
    """
    for one in error.errors():
        path = tuple(part for part in one["loc"] if isinstance(part, str) and part not in (UNSEEN, "[key]"))
        where = f"{'.'.join(path)}: " if path else ""
        yield f"line {line_of(text, path)}: {where}{_what(one, path, keys)}"


def line_of(text: str, path: tuple[str, ...]) -> int:
    """Return the line of the key that ``path`` leads to in TOML text, or of the nearest table around it."""
    table: tuple[str, ...] = ()
    depth, found = 0, 1
    for number, line in enumerate(text.splitlines(), 1):
        if header := _TABLE.match(line):
            keys = table = _parts(header[1])
        elif key := _KEY.match(line):
            keys = table + _parts(key[1])
        else:
            continue
        if len(keys) > depth and path[: len(keys)] == keys:
            depth, found = len(keys), number
    return found


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))


def _what(error: ErrorDetails, path: tuple[str, ...], keys: Callable[[tuple[str, ...]], list[str]]) -> str:
    kind, seen, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"is not a key here; {near(path[-1], keys(path[:-1]))}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return f"must be {context['expected']}, and is {seen!r}"
    wanted = _WANTED.get(kind) or error["msg"].removeprefix("Input should be ").lower()
    return f"must be {wanted}, and is {seen!r}"
