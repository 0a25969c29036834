"""Child side: which local variables are visible where a breakpoint mark stands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any

from torch import Tensor

from ...questions.recording import Reference, VisibleLocal
from ...reading.code import STUDENT_PREFIX

_LOCALS_KEPT = 5_000  # a mark in a block is passed once a block, with a dozen variables each time
_ANYWHERE = -1


class Watcher:
    """Stops, as a debugger would, before and after each marked statement and looks at the local tensors.

    ``marks`` are rows ``[file, line]``: the first line of the statement that the mark belongs to. ``refer``
    says where a tensor lies in the trace, or None. What is seen elsewhere is kept under mark -1. Does nothing
    where there are no marks.
    """

    def __init__(self, marks: Sequence[tuple[str, int]], refer: Callable[[Tensor], Reference | None]) -> None:
        self.sights: list[VisibleLocal] = []
        self._refer = refer
        self._marks: dict[str, dict[int, list[int]]] = {}
        for number, (file, line) in enumerate(marks):
            self._marks.setdefault(STUDENT_PREFIX + file, {}).setdefault(line, []).append(number)
        self._seen: set[VisibleLocal] = set()
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
        if not frame.f_code.co_filename.startswith(STUDENT_PREFIX):
            return None
        lines = self._marks.get(frame.f_code.co_filename, {})
        pending: list[int] = []

        def on_line(frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
            if event in ("line", "return"):
                here = lines.get(frame.f_lineno, []) if event == "line" else []
                self._look(frame, [*pending, *here])
                pending[:] = here
            return on_line

        return on_line

    def _look(self, frame: FrameType, marks: list[int]) -> None:
        for name, value in list(frame.f_locals.items()):
            where = self._refer(value) if isinstance(value, Tensor) else None
            if where is None or len(self.sights) > _LOCALS_KEPT:
                continue
            for mark in marks or [_ANYWHERE]:
                local = VisibleLocal(mark, name, where)
                if local not in self._seen:
                    self._seen.add(local)
                    self.sights.append(local)
