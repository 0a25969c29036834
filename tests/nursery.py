"""Workers and zygotes that are forked from what has imported torch: for tests of what comes after a start.

Starting itself is tested in tests/submissions and tests/hostile, where zygotes start as they do for users.
"""

from __future__ import annotations

import atexit
import socket
import struct
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from multiprocessing.connection import Connection

import psutil
import pytest

from vitcheck.checks.classes.engines import worker  # noqa: F401  # so that forks have it
from vitcheck.checks.classes.engines.worker_process import ForkedWorker, WorkerProcess
from vitcheck.checks.grading import grading  # noqa: F401  # as above
from vitcheck.submissions.host import process
from vitcheck.submissions.launching import environment
from vitcheck.submissions.sandbox import isolation
from vitcheck.submissions.sandbox.isolation import Isolation, Sandbox, open_sandbox

_NURSERY = """
import os, signal, socket, sys
from vitcheck.submissions.child import zygote
from vitcheck.submissions.host.process import HANDLERS
orders = socket.socket(fileno=int(sys.argv[1]))
zygote._warm([HANDLERS.partition(":")[0], "torchvision"])  # as in a class, many of which import it
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while (received := socket.recv_fds(orders, 1, 2))[0]:
    control, life = received[1]
    if not os.fork():
        orders.close()
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.write(life, b"x")  # the system adds who writes
        os.close(life)
        sys.argv[1:] = [str(control)]
        zygote.main()
        os._exit(0)
    os.close(control)
    os.close(life)
"""
_UNTIL_KILLED = 5.0  # seconds
_CREDENTIALS = struct.Struct("3i")
_really_found, _really_forked = isolation._found, ForkedWorker._start


class _Forked:
    """In place of the ``subprocess.Popen`` of a zygote."""

    def __init__(
        self, words: Sequence[str], *, pass_fds: Sequence[int], env: Mapping[str, str], **_: object
    ) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            nursery = _nursery(tuple(words[: words.index("-m")]), tuple(env.items()))
            socket.send_fds(nursery, [b"x"], [*pass_fds, theirs.fileno()])
            theirs.close()
            ((*_kind, said),) = ours.recvmsg(1, socket.CMSG_SPACE(_CREDENTIALS.size))[1]
        self._process = psutil.Process(_CREDENTIALS.unpack(said)[0])
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return None if self._process.is_running() else 0

    def wait(self, timeout: float | None = None) -> int:
        try:
            self._process.wait(timeout)
        except psutil.TimeoutExpired:
            raise subprocess.TimeoutExpired("zygote", timeout or 0) from None
        return 0

    def kill(self) -> None:
        self._process.kill()


class _Subprocess:
    """What the parent's side uses of that module."""

    Popen = _Forked
    DEVNULL = subprocess.DEVNULL
    TimeoutExpired = subprocess.TimeoutExpired


@contextmanager
def started_quickly() -> Iterator[None]:
    """Meanwhile no worker and no zygote of this process, or of a fork of it, imports torch.

    The sandbox is tried once.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "subprocess", _Subprocess)
        patch.setattr(isolation, "_found", lambda: _found(tuple(environment().items())))
        patch.setattr(WorkerProcess, "_start", _worker_forked)
        patch.setattr(ForkedWorker, "_start", _worker_forked)
        yield


def ready() -> None:
    """Let what commands ask for by default be there before this process is forked for them."""
    sandbox = open_sandbox(Isolation.AUTO)
    for wrapping in {sandbox.wrapping if sandbox else (), ()}:
        _nursery((*wrapping, sys.executable), tuple(environment().items()))


def _worker_forked(one: ForkedWorker, theirs: Connection, scratch: str) -> psutil.Process:
    ready()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the threads of pytest-xdist stay behind
        return _really_forked(one, theirs, scratch)


@cache
def _nursery(start: tuple[str, ...], names: tuple[tuple[str, str], ...]) -> socket.socket:
    """Its socket. It ends when all processes have ended that hold this."""
    ours, theirs = socket.socketpair()
    with theirs:
        started = subprocess.Popen(
            [*start, "-c", _NURSERY, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd="/",
            env=dict(names),
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    atexit.register(_end, ours, started)
    return ours


def _end(ours: socket.socket, started: subprocess.Popen[bytes]) -> None:
    ours.close()
    try:
        started.wait(_UNTIL_KILLED)
    except subprocess.TimeoutExpired:  # a worker that ends after this process holds the socket, too
        started.kill()


@cache
def _found(_: tuple[tuple[str, str], ...]) -> Sandbox:
    return _really_found()
