"""Child side: which local variables are visible where a breakpoint mark stands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any

from torch import Tensor

from .code import STUDENT_PREFIX

_SIGHTS_KEPT = 2_000  # a mark in a block is passed once a block, with a dozen variables each time


class Watcher:
    """Stops, as a debugger would, before and after each marked statement and looks at the local tensors.

    ``marks`` are rows ``[file, line]``: the first line of the statement that the mark belongs to. ``refer`` says
    where a tensor lies in the trace, or None. Does nothing where there are no marks.
    """

    def __init__(self, marks: Sequence[Sequence[Any]], refer: Callable[[Tensor], list[Any] | None]) -> None:
        self.sights: list[list[Any]] = []
        self._refer = refer
        self._marks: dict[str, dict[int, list[int]]] = {}
        for number, (file, line) in enumerate(marks):
            self._marks.setdefault(STUDENT_PREFIX + file, {}).setdefault(line, []).append(number)
        self._previous: Any = None

    def __enter__(self) -> Watcher:
        self._previous = sys.gettrace()
        if self._marks:
            sys.settrace(self._on_call)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        sys.settrace(self._previous)

    def _on_call(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        lines = self._marks.get(frame.f_code.co_filename)
        if lines is None:
            return None
        pending: list[int] = []

        def on_line(frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
            if event in ("line", "return"):
                due = [*pending, *(lines.get(frame.f_lineno, []) if event == "line" else [])]
                self._look(frame, due)
                pending[:] = lines.get(frame.f_lineno, []) if event == "line" else []
            return on_line

        return on_line

    def _look(self, frame: FrameType, marks: list[int]) -> None:
        if not marks or len(self.sights) > _SIGHTS_KEPT:
            return
        for name, value in list(frame.f_locals.items()):
            if isinstance(value, Tensor):
                where = self._refer(value)
                self.sights += [[mark, name, where] for mark in marks if where is not None]
