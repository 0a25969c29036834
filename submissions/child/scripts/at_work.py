"""Child side: which lines of a script are at work, and what they call tensors, which have no names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from torch import Tensor

from ...errors import Frame
from ..tracing.student_stack import line_of, student_stack

_LONGEST = 100  # characters: the names of a few variables


def lines_at_work(frame: FrameType | None) -> tuple[Frame, Frame]:
    """The line of the outermost statement that runs, and that of the innermost."""
    found = [*map(line_of, student_stack(frame))]
    return (found[-1], found[0]) if found else (Frame("", 0), Frame("", 0))


def names_of(tensor: Tensor, frame: FrameType | None) -> str:
    """The innermost code's variables that are ``tensor``, and its keys in dictionaries, with dots between."""
    innermost = next(student_stack(frame), None)
    held = {} if innermost is None else dict(innermost.f_locals)
    return ".".join(dict.fromkeys(_names(held, tensor)))[:_LONGEST]


def _names(held: Mapping[Any, Any], tensor: Tensor) -> Iterator[str]:
    for name, one in held.items():
        if one is tensor:
            yield str(name)
        elif isinstance(one, dict):
            yield from (str(key) for key, inner in list(one.items()) if inner is tensor)
