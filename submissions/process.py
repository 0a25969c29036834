"""The parent's side of student code: one warm process to fork, and a child of it for each submission.

Imports no torch, so that the zygote's import of it and the parent's own can run at the same time.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import psutil

from .conversation import Child
from .limits import Limits
from .tree import Tree, kill_descendants

_START_SECONDS = 120.0  # importing torch takes 3 s warm, and a minute from a cold network disk
_END_SECONDS = 6.0  # a little more than the zygote gives itself to end what is below it
_HANDLERS = f"{__package__}.requests:HANDLERS"
_PATHS = ("PYTHONPATH", "LD_LIBRARY_PATH")  # without these the same Python might find another torch
_ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",  # before the interpreter starts: a thread pool does not survive a fork
    "MKL_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "MPLBACKEND": "Agg",  # no window
    "PYTHONHASHSEED": "0",  # the order of sets repeats
    "PYTHONBREAKPOINT": "0",
    "PYTHONSAFEPATH": "1",
    "PYTHONUNBUFFERED": "1",  # what is printed before a crash arrives
    "PYTHONIOENCODING": "utf-8:backslashreplace",
}


class _EndedError(Exception):
    pass


class Zygote:
    """A process that has imported torch (and ``warm``, as far as installed), to be forked for submissions.

    Starting returns at once; the first child waits until it is ready. One that has died is started once more.
    As a context manager it ends with every process below it.
    """

    def __init__(self, warm: Sequence[str] = ()) -> None:
        self._warm = [_HANDLERS.partition(":")[0], *warm]
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False

    def __enter__(self) -> Zygote:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to start it. Raises RuntimeError on systems that cannot fork."""
        if not hasattr(os, "fork"):
            raise RuntimeError("vitcheck runs submissions in forked processes, which Windows lacks: use WSL")
        self._ready = False
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_START_SECONDS)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.zygote", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in _PATHS if name in os.environ} | _ENVIRONMENT,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is the parent's
            )
        self._control.sendall(json.dumps({"warm": self._warm}).encode())

    def stop(self) -> None:
        """End it and every process below it; the next child starts it again."""
        if self._process is None:
            return
        self._control.close()  # it ends on that, with all below it
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            kill_descendants(psutil.Process(self._process.pid))
            self._process.kill()
            self._process.wait()
        self._process = None

    def _abandon(self, process: subprocess.Popen[bytes] | None) -> None:
        """Stop it, unless another has taken the place of ``process``."""
        if process is self._process:
            self.stop()

    def child(self, limits: Limits | None = None, *, seed: int = 0, handlers: str = _HANDLERS) -> Child:
        """A fresh child, ready for requests; use it as a context manager.

        ``handlers`` names a mapping from request to handler as ``module:attribute``. Raises RuntimeError
        where no child can be had, which is no submission's fault.
        """
        limits = limits or Limits()
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            scratch = tempfile.mkdtemp(prefix="vitcheck-")
            ours.callback(shutil.rmtree, scratch, ignore_errors=True)
            printed, print_to = os.pipe()
            ours.callback(os.close, printed)
            theirs.callback(os.close, print_to)
            connection, connect_to = _pair(ours, theirs)
            reports, report_to = _pair(ours, theirs)
            order = {
                "scratch": scratch,
                "environment": _ENVIRONMENT,
                "seed": seed,
                "handlers": handlers,
                "limits": asdict(limits),
            }
            monitor = self._fork(order, [connect_to.fileno(), print_to, report_to.fileno()])
            child = Child(
                Tree(monitor, reports),
                connection,
                printed,
                limits,
                ours.pop_all(),
                partial(self._abandon, self._process),
            )
        child.start()
        return child

    def _fork(self, order: dict[str, Any], descriptors: list[int]) -> int:
        """The process id of the new child's monitor."""
        for _ in range(2):
            try:
                self._wait_until_ready()
                return int(self._ask({"fork": order}, descriptors)["monitor"])
            except _EndedError:
                self.stop()
        raise RuntimeError("the process that runs submissions ended twice by itself; what it said is above")

    def _wait_until_ready(self) -> None:
        if self._process is None:
            self.start()
        if self._ready:
            return
        theirs = self._answer()
        torch = importlib.util.find_spec("torch")
        ours = {"python": sys.version, "torch": torch and torch.origin}
        if theirs != ours:
            raise RuntimeError(f"submissions would run with {theirs}, while this process has {ours}")
        self._ready = True

    def _ask(self, order: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        try:
            socket.send_fds(self._control, [json.dumps(order).encode()], descriptors)
        except OSError:
            raise _EndedError from None
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        try:
            text = self._control.recv(65536)
        except OSError:
            text = b""
        if not text:
            raise _EndedError
        answer: dict[str, Any] = json.loads(text)
        if "problem" in answer:
            raise RuntimeError(f"the process that runs submissions cannot fork: {answer['problem']}")
        return answer


def _pair(ours: contextlib.ExitStack, theirs: contextlib.ExitStack) -> tuple[socket.socket, socket.socket]:
    here, there = socket.socketpair()
    return ours.enter_context(here), theirs.enter_context(there)
