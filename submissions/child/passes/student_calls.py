"""Child side: which of the student's functions run meanwhile, and what their names hold."""

from __future__ import annotations

import gc
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from torch import Tensor, nn

from ...questions.changes import HeldAt
from ...reading.code import STUDENT_PREFIX
from ..tracing.student_stack import is_students

_LINES, _NAMES, _LETTERS = 2_000, 80, 60  # that are told, of code that nobody has written by hand


class Place(NamedTuple):
    """Of a function, in all versions of its file that differ below its first line alone."""

    file: str
    line: int
    name: str

    @classmethod
    def of(cls, code: CodeType) -> Place:
        return cls(code.co_filename, code.co_firstlineno, code.co_name)


@contextmanager
def called() -> Iterator[set[Place]]:
    """The student's functions that are called meanwhile."""
    places = set[Place]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and is_students(frame):
            places.add(Place.of(frame.f_code))

    sys.setprofile(note)
    try:
        yield places
    finally:
        sys.setprofile(None)


def functions_at(places: Collection[Place]) -> dict[Place, list[FunctionType]]:
    """The functions there, however they are reached."""
    found: dict[Place, list[FunctionType]] = {}
    for one in gc.get_objects():
        if type(one) is FunctionType and (place := Place.of(one.__code__)) in places:
            found.setdefault(place, []).append(one)
    return found


@contextmanager
def names_held() -> Iterator[list[HeldAt]]:
    """What the names on each line of the student's functions hold, just before the line first runs."""
    found: dict[tuple[str, int], HeldAt] = {}
    told: list[HeldAt] = []

    def of_line(frame: FrameType, event: str, _: object) -> Any:
        at = frame.f_code.co_filename, frame.f_lineno
        if event == "line" and at not in found and len(found) < _LINES:
            file = at[0].removeprefix(STUDENT_PREFIX)
            found[at] = HeldAt(file, at[1], dict(_names(frame)))
        return of_line

    before = sys.gettrace()
    sys.settrace(lambda frame, event, _: of_line if is_students(frame) else None)
    try:
        yield told
    finally:
        sys.settrace(before)
        told.extend(found.values())


def _names(frame: FrameType) -> Iterator[tuple[str, str]]:
    """Variables, and what ``self`` holds, whatever a method calls it."""
    held, first = frame.f_locals, next(iter(frame.f_code.co_varnames), "")
    own = getattr(held.get(first), "__dict__", {}) if frame.f_code.co_argcount else {}
    registered = (own.get(name) for name in ("_parameters", "_buffers", "_modules"))
    attributes = {**own, **{name: one for each in registered for name, one in (each or {}).items()}}
    yield from ((name, _kind(one)) for name, one in [*held.items()][:_NAMES])
    yield from ((f"self.{name}", _kind(one)) for name, one in [*attributes.items()][:_NAMES])


def _kind(value: object) -> str:
    """What it is in a word, and its shape or class."""
    if isinstance(value, Tensor):
        return " ".join(["tensor", *map(str, value.shape)])[:_LETTERS]
    if isinstance(value, nn.Module):
        return f"layer {type(value).__name__}"[:_LETTERS]
    if isinstance(value, (int, float)):
        return "number"
    return "function" if callable(value) else type(value).__name__[:_LETTERS]
