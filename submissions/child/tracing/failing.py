"""Child side: which call a forward pass failed at, and which tensors it was given."""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from ...questions.recording import Failed, Reference
from .results import is_array
from .student_stack import is_students, student_stack
from .tracing import Tracer, flat

_NAMES_KEPT = 60  # of local variables
_NUMBERS_KEPT = 16  # such as the sizes that a view asks for

_Named = list[tuple[str, Tensor]]


class _Calls(TorchFunctionMode):
    """Keeps the call to torch, as the code writes it, that raised last."""

    def __init__(self) -> None:
        super().__init__()
        self.error: BaseException | None = None
        self.op = ""
        self.arguments: list[Any] = []
        self.names: Mapping[int, str] = {}

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            self.error, self.op = error, str(getattr(func, "__name__", func))
            self.arguments = flat((args, kwargs or {}))
            self.names = _names(next(student_stack(sys._getframe()), None))
            raise


def failed_call(run: Callable[[], object], tracer: Tracer) -> Failed | None:
    """Runs what has failed once more, inside of ``tracer``; None where it does not fail again.

    It says the call ("" where no call to torch raised), its tensors and the local ones of the line,
    each with a variable's name if it has one.
    """
    calls = _Calls()
    try:
        with tracer, calls:
            run()
    except (Exception, SystemExit) as raised:
        local = [(name, one) for name, one in _tensors(_innermost(raised)) if not name.startswith("_")]
        if calls.error is not raised:
            return Failed("", (), (), _referred(local, tracer))
        inputs = [(calls.names.get(id(one), ""), one) for one in calls.arguments if isinstance(one, Tensor)]
        numbers = [float(one) for one in calls.arguments if type(one) in (int, float) and math.isfinite(one)]
        return Failed(
            op=calls.op,
            inputs=_referred(inputs, tracer),
            numbers=tuple(numbers[:_NUMBERS_KEPT]),
            locals=_referred(local, tracer),
        )
    return None


def _referred(named: _Named, tracer: Tracer) -> tuple[tuple[str, Reference], ...]:
    return tuple((name, tracer.refer(tensor)) for name, tensor in named[:_NAMES_KEPT] if is_array(tensor))


def _innermost(raised: BaseException) -> FrameType | None:
    """The last frame of student code that the exception passed."""
    frames = [frame for frame, _ in traceback.walk_tb(raised.__traceback__)]
    return next(filter(is_students, reversed(frames)), None)


def _names(frame: FrameType | None) -> Mapping[int, str]:
    return {id(one): name for name, one in _tensors(frame)}


def _tensors(frame: FrameType | None) -> Iterator[tuple[str, Tensor]]:
    for name, one in list(frame.f_locals.items()) if frame is not None else []:
        if isinstance(one, Tensor):
            yield name, one
