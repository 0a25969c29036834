"""The process that imports torch once and is forked for every submission.

Run as ``python -m vitcheck.submissions.child.zygote FD``, where FD is its socket to the parent. It never
sees a submission. For each it forks a monitor, which adopts whatever the submission's process leaves behind
and reports how it ended; the monitor forks the child. Where they get namespaces of their own, a keeper
enters those and forks the monitor as the first process in them. It stays single-threaded: a fork copies only
the calling thread, and the locks of others would stay locked for ever (a matrix product in the child then
hangs).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import shutil
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import psutil

from ..host.collecting import nothing_collected
from ..host.tree import kill_descendants
from ..sandbox import confining, kernel, namespaces
from .keeping import keep_late_modules

_MESSAGE_BYTES = 65536  # control messages are small and strictly in turn: one receive is one message
_LAST_LOOK_SECONDS = 5.0  # for ending what is left when the parent is gone
_OUTSIDE = 0  # the process id of a parent in another namespace
_DESCRIPTORS = 4  # with an order to fork: the child's socket, its output and errors, the monitor's reports


def main() -> None:
    """Serve until the parent hangs up, then end with every process and folder that is left."""
    control = socket.socket(fileno=int(sys.argv[1]))
    confining.prepare()
    kernel.adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps
    folders: set[str] = set()
    with contextlib.suppress(ConnectionError):  # the parent has hung up while it was imported, say
        while True:
            text, descriptors, _, _ = socket.recv_fds(control, _MESSAGE_BYTES, _DESCRIPTORS)
            if not text:
                break
            order = json.loads(text)
            answer = _answer(order)
            control.sendall(json.dumps(answer).encode())  # first, since a fork takes long
            if "fork" in order and not answer:
                folders.add(order["fork"]["scratch"])
                _fork_for(order["fork"], descriptors)
    _clear(folders)


def _clear(folders: set[str]) -> None:
    """Leave nothing behind, even where the parent was killed."""
    deadline = time.monotonic() + _LAST_LOOK_SECONDS
    while kill_descendants(psutil.Process()) and time.monotonic() < deadline:
        time.sleep(0.01)
    for one in folders:
        shutil.rmtree(one, ignore_errors=True)


def _answer(order: dict[str, Any]) -> dict[str, Any]:
    if "warm" in order:
        return _warm(order["warm"])
    if (threads := psutil.Process().num_threads()) != 1:
        return {"problem": f"it has {threads} threads, and can fork safely with one only"}
    return {}


def _fork_for(order: dict[str, Any], descriptors: list[int]) -> None:
    zygote = os.getpid()
    _fork(lambda: _begin(zygote, order, *descriptors))
    for one in descriptors:
        os.close(one)


def _warm(names: list[str]) -> dict[str, Any]:
    """Import ``names`` as far as they are installed, so that every child has them at once."""
    with nothing_collected():
        import torch

        for name in names:
            with contextlib.suppress(Exception):  # a child that needs it says so itself
                importlib.import_module(name)
    keep_late_modules()
    torch.set_num_threads(1)
    torch.backends.cpu.get_cpu_capability()  # looks into /proc once, which children do not have
    return {"python": sys.version, "torch": torch.__file__}


def _fork(run: Callable[[], None]) -> int:
    """The process id of a new process that does ``run`` and ends without any of this one's clean-up."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        run()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _begin(
    zygote: int, order: dict[str, Any], connection: int, printed: int, warned: int, reports: int
) -> None:
    """Be the monitor, or where namespaces are wanted the keeper of one, which cannot enter them itself."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if not (order["sandbox"] and order["sandbox"]["namespaces"]):
        _monitor(zygote, order, connection, printed, warned, reports)
        return
    namespaces.enter()
    kernel.end_with(zygote)
    monitor = _fork(lambda: _monitor(_OUTSIDE, order, connection, printed, warned, reports))
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    os.waitpid(monitor, 0)


def _monitor(
    parent: int, order: dict[str, Any], connection: int, printed: int, warned: int, reports: int
) -> None:
    """Fork the child, report its end, adopt and reap what it leaves, and report what all of it used."""
    kernel.end_with(parent)
    kernel.adopt_orphans()
    # the code may send signals that someone waits for to anyone it sees
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    monitor = os.getpid()
    pid = _fork(lambda: _child(monitor, order, connection, printed, warned))
    os.dup2(reports, 3)
    os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    grader = socket.socket(fileno=3)
    with contextlib.suppress(ConnectionError):  # the grader need not wait for the last word
        _report(grader, {"monitor": monitor})
        _reap(pid, grader)
        grader.recv(1)  # stays until the grader hangs up, so that the process id stays its own


def _reap(child: int, grader: socket.socket) -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            ended, status = os.wait()  # raises ChildProcessError when none is left
            if ended == child:
                _report(grader, {"exit": os.waitstatus_to_exitcode(status)})
                _end_what_is_left()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    _report(grader, {"cpu_seconds": used.ru_utime + used.ru_stime, "max_rss_bytes": used.ru_maxrss * unit})


def _end_what_is_left() -> None:
    """At one stroke, for the first process of a namespace; elsewhere the grader does it, one by one."""
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)


def _report(grader: socket.socket, what: dict[str, Any]) -> None:
    grader.sendall(json.dumps(what).encode() + b"\n")


def _child(monitor: int, order: dict[str, Any], connection: int, printed: int, warned: int) -> None:
    os.setsid()
    kernel.end_with(monitor)
    os.dup2(printed, 1)
    os.dup2(warned, 2)
    os.dup2(connection, 3)
    os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    from . import child  # here, since it loads torch

    child.run(socket.socket(fileno=3), order)


if __name__ == "__main__":
    _status = 1
    try:
        main()
        _status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(_status)  # an ordinary end prints pages of leaked bindings
