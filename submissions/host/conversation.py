"""What the parent and one child say to each other, under a clock and within limits. Imports no torch.

The parent alone keeps the time, looks after everything that the child prints, and ends it.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from ..errors import Refused, SubmissionError, TimedOut
from ..limits import FrameLimits, Limits
from ..questions import wire
from ..questions.question import IN_A_PASS
from .clocks import Clock, kept_waiting
from .failures import ended_by, failure_in, out_of_memory
from .memory import MemoryWatch
from .printed import Printed
from .tree import Tree, Usage

_START_SECONDS = 60.0  # a fork takes 30 ms, and a second where thirty processes want the processor
_REPORT_SECONDS = 1.0  # from a closed connection to the monitor's word on how the child ended
_WATCH_SECONDS = 0.1  # between two counts of processes
_PIECE = 1 << 20  # bytes to read or write at once


class Child:
    """The process of one submission. A context manager: leaving it ends every process that the code started.

    ``layers`` names what confines it, said before it was sent any code; ``usage`` is known once it is closed.
    """

    layers: tuple[str, ...] = ()

    def __init__(
        self,
        tree: Tree,
        connection: socket.socket,
        written: tuple[int, int],
        limits: Limits,
        memory: MemoryWatch,
        resources: ExitStack,
        abandon: Callable[[], None],
    ) -> None:
        """``written`` are the pipes of its output and its errors.

        Release ``resources`` in the end; ``abandon`` ends the zygote where nothing less ends the child.
        """
        self._tree, self._connection, self._limits = tree, connection, limits
        self._memory, self._resources, self._abandon = memory, resources, abandon
        self._printed, self._in_passes = Printed(written, limits), 0
        self._left = limits.submission_seconds
        self._clock, self._late, self._watched = Clock(0.0, float), "", 0.0
        self._kept_waiting: Callable[[], float] = float  # until its process is known
        self._requests = 0
        self._failure: SubmissionError | None = None
        self._closed = False
        connection.setblocking(False)
        self._selector = selectors.DefaultSelector()
        for what in (connection, *written, tree.reports):
            self._selector.register(what, selectors.EVENT_READ)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def printed(self) -> str:
        """What the code has printed so far, cut at the limit."""
        return self._printed.text

    @property
    def prints_in_passes(self) -> bool:
        """Has it written to its standard output while the model was built and run?"""
        return self._in_passes > 0

    @property
    def usage(self) -> Usage | None:
        return self._tree.usage

    def start(self, seed: int) -> Child:
        """Wait for its first word, and seed it; raises RuntimeError where none comes."""
        self._clock = Clock(_START_SECONDS, float)
        self._late = f"it said nothing for {_START_SECONDS:g} s"
        self._tree.meet(_START_SECONDS)
        try:
            self.layers = tuple(wire.receive(self, FrameLimits())["in_force"])
            processes = self._tree.processes()
            self._memory.begin(processes)
            if processes:
                self._kept_waiting = partial(kept_waiting, processes[0].pid)
            wire.send(self, {"seed": seed})
        except SubmissionError as problem:
            text = f"the process for a submission did not start: {problem.reason}\n{self.printed}"
            raise RuntimeError(text) from None
        return self

    def request(
        self,
        header: Mapping[str, Any],
        *,
        doing: str | None = None,
        is_large: bool = False,
        body_limit: int | None = None,
    ) -> Any:
        """The child's reply to the request that ``header["request"]`` names, within its limit.

        ``doing`` is what the code does meanwhile, for a message; ``body_limit`` is in bytes of tensors. One
        that ``is_large`` has more time, and uses up less of what all requests have together.
        Raises TimedOut, Crashed or Refused, after which the child is closed and each request raises the same;
        OutOfMemory, StudentCodeFailed, and any SubmissionError that a handler raised, after which it can be
        asked again.
        """
        if self._failure is not None:
            raise self._failure.with_traceback(None)  # or it grows with each request that is still to fail
        self._requests += 1
        limits = FrameLimits() if body_limit is None else replace(FrameLimits(), body_bytes=body_limit)
        before = self._printed.output_bytes
        times = self._limits.large_times if is_large else 1.0
        self._set_clock(header["request"], doing, times)
        try:
            wire.send(self, {**header, "id": self._requests, "most": limits.body_bytes})
            answer = wire.receive(self, limits)
            self._printed.drain()
            self._in_passes += self._printed.output_bytes - before if doing == IN_A_PASS else 0
            return self._open(answer)
        except wire.ProtocolError as problem:
            raise self._end(Refused(f"the grader refused what the code's process sent: {problem}")) from None
        finally:
            self._left -= self._clock.used / times

    def _set_clock(self, request: str, doing: str | None, times: float) -> None:
        seconds, left = self._limits.seconds_for(request, times), self._left * times
        self._late = f"the code was still running after {seconds:g} s {doing or f'in {request!r}'}"
        if left < seconds:
            self._late = f"the code took more than {self._limits.submission_seconds:g} s in all"
        self._clock = Clock(min(seconds, left), self._kept_waiting)

    def _open(self, answer: wire.Header) -> Any:
        """The reply in ``answer``; raises the error that the handler raised."""
        if answer.get("id") != self._requests:
            raise wire.ProtocolError("an answer to no question")
        if "error" in answer:
            raise failure_in(answer["error"], self._limits)
        if "reply" not in answer:
            raise wire.ProtocolError("an answer without a reply")
        return answer["reply"]

    def read(self, size: int) -> bytes:
        """For frames: exactly ``size`` bytes from the child."""
        parts = []
        while size:
            self._wait(selectors.EVENT_READ)
            try:
                part = self._connection.recv(min(size, _PIECE))
            except ConnectionError:
                part = b""
            if not part:
                raise self._end(self._ended_by_itself())
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def write(self, data: bytes) -> None:
        """For frames: send ``data`` to the child."""
        left = memoryview(data)
        while left:
            self._wait(selectors.EVENT_WRITE)
            try:
                left = left[self._connection.send(left[:_PIECE]) :]
            except ConnectionError:
                raise self._end(self._ended_by_itself()) from None

    def _wait(self, event: int) -> None:
        """Let the child run until its connection is ready for ``event``."""
        self._selector.modify(self._connection, event)
        while True:
            if self._clock.is_far_beyond:  # whatever it sends, piece by piece
                raise self._end(TimedOut(self._late))
            left = self._clock.left
            ready = [key.fileobj for key, _ in self._selector.select(max(0.0, min(left, _WATCH_SECONDS)))]
            for pipe in self._printed.pipes:
                if pipe in ready:
                    self._read_printed(pipe)
            if self._connection in ready:
                return
            if left <= 0:  # and the answer was not there, however late this process came to look
                raise self._end(TimedOut(self._late))
            if self._tree.reports in ready:
                self._tree.look(_WATCH_SECONDS)
                if self._tree.exit is not None or self._tree.over:
                    raise self._end(self._ended_by_itself())
            self._watch()

    def _watch(self) -> None:
        """End what prints without end, starts too many processes or holds too much memory."""
        if self._printed.is_too_much:
            limit = self._limits.printed_bytes / 2**20
            raise self._end(Refused(f"the code printed more than {limit:g} MB"))
        now = time.monotonic()
        if now - self._watched > _WATCH_SECONDS:
            self._watched = now
            processes = self._tree.processes()
            if len(processes) > self._limits.processes:
                raise self._end(Refused(f"the code started more than {self._limits.processes} processes"))
            if self._memory.is_over(processes):
                raise self._end(out_of_memory(self._limits))

    def _read_printed(self, pipe: int) -> None:
        if self._printed.read(pipe) == b"" and pipe in self._selector.get_map():
            self._selector.unregister(pipe)

    def _ended_by_itself(self) -> SubmissionError:
        self._tree.wait(_REPORT_SECONDS)
        code = self._tree.exit
        if code is None:
            did = "ended a process of" if self._tree.lost else "closed its connection to"
            return Refused(f"the code {did} the grader")
        return out_of_memory(self._limits) if self._memory.is_over(()) else ended_by(code, self._limits)

    def _end(self, failure: SubmissionError) -> SubmissionError:
        self._failure = failure
        self.close()
        return failure

    def close(self) -> None:
        """End the child and everything that it started."""
        if self._closed:
            return
        self._closed = True
        if not self._tree.kill():
            self._abandon()
        self._printed.drain()
        self._selector.close()
        self._resources.close()
