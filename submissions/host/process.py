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
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import psutil

from ..launching import CLEAN, command, environment
from ..limits import Limits
from ..sandbox.isolation import Sandbox
from .conversation import Child
from .memory import MemoryWatch
from .shared_memory import SharedMemory
from .tree import Tree, kill_descendants

_START_SECONDS = 120.0  # importing torch takes 3 s warm, and a minute from a cold network disk
_END_SECONDS = 6.0  # a little more than the zygote gives itself to end what is below it
HANDLERS = "vitcheck.submissions.child.requests:HANDLERS"
# for exercises on a model, which may be one of ours
WITH_SAMPLES = "vitcheck.submissions.child.sample_requests:HANDLERS"


class _EndedError(Exception):
    pass


class Zygote:
    """A process that has imported torch (and ``warm``, as far as installed), to be forked for submissions.

    With a ``sandbox`` its children are locked in, and the next one is forked while one is at work. Starting
    returns at once; the first child waits until it is ready. One that has died is started once more. As a
    context manager it ends with every process below it.
    """

    def __init__(self, warm: Sequence[str] = (), sandbox: Sandbox | None = None) -> None:
        self._warm = [HANDLERS.partition(":")[0], *warm]
        self._sandbox = sandbox
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False
        self._ahead: tuple[object, Child] | None = None  # what it was made for, and the next child

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
        wrapping = self._sandbox.wrapping if self._sandbox else ()
        with theirs:
            self._process = subprocess.Popen(
                [*wrapping, *command("vitcheck.submissions.child.zygote", str(theirs.fileno()))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd="/",
                env=environment(),
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is the parent's
            )
        self._control.sendall(json.dumps({"warm": self._warm}).encode())

    def stop(self) -> None:
        """End it and every process below it; the next child starts it again."""
        self._drop_ahead()
        process, self._process = self._process, None
        if process is None:
            return
        self._control.close()  # it ends on that, with all below it
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            kill_descendants(psutil.Process(process.pid))
            process.kill()
            process.wait()

    def _abandon(self, process: subprocess.Popen[bytes] | None) -> None:
        """Stop it, unless another has taken the place of ``process``."""
        if process is self._process:
            self.stop()

    def child(self, limits: Limits | None = None, *, seed: int = 0, handlers: str = HANDLERS) -> Child:
        """A fresh child, ready for requests; use it as a context manager.

        ``handlers`` names a mapping from request to handler as ``module:attribute``. Raises RuntimeError
        where no child can be had, or one that is locked in less than the sandbox promises, which is no
        submission's fault.
        """
        asked = (limits or Limits(), handlers)
        child = self._ahead_for(asked, seed) or self._forked(*asked).start(seed)
        if self._sandbox:
            self._demand(self._sandbox, child)
            if not self._sandbox.serves_once:
                with contextlib.suppress(RuntimeError):  # the next call tries again, or says why not
                    self._ahead = (asked, self._forked(*asked))
        return child

    def _ahead_for(self, asked: object, seed: int) -> Child | None:
        """The child that is waiting, if it was made for what is asked and nothing has happened to it."""
        running = self._process is not None and self._process.poll() is None  # else it takes the child along
        if self._ahead is None or self._ahead[0] != asked or not running:
            self._drop_ahead()
            return None
        child, self._ahead = self._ahead[1], None
        with contextlib.suppress(RuntimeError):
            return child.start(seed)
        return None

    def _drop_ahead(self) -> None:
        ahead, self._ahead = self._ahead, None
        if ahead:
            ahead[1].close()

    def _demand(self, sandbox: Sandbox, child: Child) -> None:
        child.layers = (*sandbox.outer, *child.layers)
        if missing := set(sandbox.layers) - set(child.layers):
            child.close()
            lacks = ", ".join(sorted(missing))
            raise RuntimeError(f"the process for a submission lacks what worked when it was tried: {lacks}")

    def _forked(self, limits: Limits, handlers: str) -> Child:
        """A child that has yet to be started."""
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            scratch = self._scratch(ours)
            (printed, print_to), (warned, warn_to) = os.pipe(), os.pipe()
            for one in (printed, warned):
                ours.callback(os.close, one)
            for one in (print_to, warn_to):
                theirs.callback(os.close, one)
            connection, connect_to = _pair(ours, theirs)
            reports, report_to = _pair(ours, theirs)
            tree = Tree(reports)
            order = {
                "scratch": scratch,
                "environment": CLEAN,
                "handlers": handlers,
                "limits": asdict(limits),
                "sandbox": self._sandbox and asdict(replace(self._sandbox.order, scratch=scratch)),
            }
            self._fork(order, [connect_to.fileno(), print_to, warn_to, report_to.fileno()])
            abandon = partial(self._abandon, self._process)
            if self._sandbox and self._sandbox.serves_once:
                ours.callback(abandon)
            memory = MemoryWatch(limits, SharedMemory() if self._shares_memory else None)
            ours.callback(memory.end)
            return Child(tree, connection, (printed, warned), limits, memory, ours.pop_all(), abandon)

    @property
    def _shares_memory(self) -> bool:
        """Do submissions have none of their own, though they are locked in?"""
        return self._sandbox is not None and not (self._sandbox.wrapping or self._sandbox.namespaces)

    def _scratch(self, resources: contextlib.ExitStack) -> str:
        """The folder in which the child may write; inside bubblewrap there is one already."""
        if self._sandbox and self._sandbox.wrapping:
            return self._sandbox.order.scratch
        scratch = tempfile.mkdtemp(prefix="vitcheck-")
        resources.callback(shutil.rmtree, scratch, ignore_errors=True)
        return scratch

    def _fork(self, order: dict[str, Any], descriptors: list[int]) -> None:
        """Have the zygote begin a child that follows ``order``."""
        for _ in range(2):
            try:
                self._wait_until_ready()
                self._ask({"fork": order}, descriptors)
                return
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
