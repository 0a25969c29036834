"""Calling a function of the student's with what it needs, for a bounded time."""

from __future__ import annotations

import io
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from types import FrameType
from typing import Any
from unittest import mock

import torch
from torch import nn

from ..loading.definitions import Definition
from .argument_roles import MISSING, ArgumentRoles, Role, Way, is_transform
from .stand_in import StandIn

_SECONDS, _SECONDS_IN_ALL = 1, 5  # of the processor: reading a picture takes milliseconds
_PRINTED = 10_000  # characters


class _TooLongError(BaseException):
    """No Exception, so that no ``except Exception`` of the student's stops it."""


@dataclass(frozen=True)
class Outcome:
    """What came of a call: ``error`` where it raised, or took too long."""

    result: object = None
    printed: str = ""
    error: BaseException | None = None


class LentCalls:
    """Calls functions, as long as there is time for it."""

    def __init__(self, roles: ArgumentRoles, stand_in: StandIn) -> None:
        self.roles = roles
        self.stand_in = stand_in
        self._until = time.process_time() + _SECONDS_IN_ALL

    def call(self, way: Way, picture: object) -> Outcome:
        """Call a function with a picture, and what else it needs."""
        function: Any = way.function.value
        given = {name: self._lent(role) for name, role in way.roles.items()}
        with self._surrounded(way.function):
            return self.apply(lambda one: function(**{way.place: one}, **given), picture)

    def apply(self, function: Callable[[object], object], picture: object) -> Outcome:
        """Call what needs the picture alone."""
        left = self._until - time.process_time()
        if left <= 0:
            return Outcome(error=TimeoutError("other functions took all the time that there is"))
        self.stand_in.forget()
        printed = io.StringIO()
        try:
            with (
                _clock(min(left, _SECONDS)),
                torch.no_grad(),
                redirect_stdout(printed),
                redirect_stderr(io.StringIO()),
            ):
                result = function(picture)
        except (Exception, SystemExit, _TooLongError) as error:
            return Outcome(error=error)
        return Outcome(result, printed.getvalue()[:_PRINTED])

    def _lent(self, role: Role) -> object:
        lent = {
            Role.MODEL: self.stand_in,
            Role.DEVICE: torch.device("cpu"),
            Role.LABELS: self.stand_in.labels,
        }
        return lent.get(role, self.stand_in.side)

    @contextmanager
    def _surrounded(self, function: Definition) -> Iterator[None]:
        """While it lasts, all models that it reads are the stand-in, and no weights are loaded."""
        with ExitStack() as stack:
            for one in self.roles.used(function):
                module = self.roles.loaded.modules[one.module]
                stack.enter_context(mock.patch.dict(vars(module), self._replaced(one)))
            stack.enter_context(mock.patch.object(torch, "load", return_value={}))
            yield

    def _replaced(self, one: Definition) -> dict[str, object]:
        """What is lent under the names that a function reads from its file."""
        found: dict[str, object] = {}
        for name, held in self.roles.outer_names(one).items():
            if held is MISSING:
                found[name] = self._lent(self.roles.role(one, name))
            elif isinstance(held, nn.Module) and not is_transform(held):
                found[name] = self.stand_in
            elif (
                isinstance(held, type) and issubclass(held, nn.Module) and name in self.roles.definitions.all
            ):
                found[name] = lambda *_, **__: self.stand_in
        return found


@contextmanager
def _clock(seconds: float) -> Iterator[None]:
    """Stop what takes longer, by the time of the processor: a busy machine changes nothing."""

    def stop(_: int, __: FrameType | None) -> None:
        raise _TooLongError(f"still running after {seconds:.0f} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
