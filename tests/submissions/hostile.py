"""Handlers of the kind that a submission's code would be, for the tests of the child process."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import torch

from vitcheck.submissions.errors import Frame, NotLoaded, StudentCodeFailed
from vitcheck.submissions.questions.wire import encode

Header = dict[str, Any]
Tensors = dict[str, torch.Tensor]

CONNECTION = 3


def double(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    return header, {name: tensor * 2 for name, tensor in tensors.items()}


def train(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    weight = torch.randn(64, 64, requires_grad=True)
    (gradient,) = torch.autograd.grad((weight @ weight.T).sum(), weight)
    return {"shape": list(gradient.shape)}, {}


def surroundings(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    return {
        "cwd": os.getcwd(),
        "home": os.path.expanduser("~"),
        "environment": sorted(os.environ),
        "descriptors": sorted(int(one) for one in os.listdir("/proc/self/fd") if _is_open(int(one))),
        "arguments": sys.argv,
        "stdin": sys.stdin.read(),
        "random": [random.random(), float(np.random.rand()), float(torch.rand(()))],
        "threads": torch.get_num_threads(),
    }, {}


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:  # the one that listed the folder
        return False
    return True


def run_student(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    exec(compile(header["source"], "<submission>/model.py", "exec"), {})
    return {}, {}


def evaluate(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    """What the source leaves in ``value``."""
    left: dict[str, Any] = {}
    exec(header["source"], left)
    return {"value": left.get("value")}, {}


def ours(header: Header, tensors: Tensors) -> NoReturn:
    raise NotLoaded("no model", Frame("model.py", 3))


def theirs(header: Header, tensors: Tensors) -> NoReturn:
    raise StudentCodeFailed("ValueError", "wrong", (Frame("model.py", 3),))


def loop(header: Header, tensors: Tensors) -> NoReturn:
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


def burn(header: Header, tensors: Tensors) -> NoReturn:
    while True:
        pass


def exit_now(header: Header, tensors: Tensors) -> NoReturn:
    print("last words")
    os._exit(3)


def abort(header: Header, tensors: Tensors) -> NoReturn:
    os.abort()


def segfault(header: Header, tensors: Tensors) -> NoReturn:
    ctypes.string_at(0)
    raise AssertionError


def kill_self(header: Header, tensors: Tensors) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def signal_self(header: Header, tensors: Tensors) -> NoReturn:
    os.kill(os.getpid(), signal.SIGRTMIN + 1)  # has no name
    raise AssertionError


def fork_bomb(header: Header, tensors: Tensors) -> NoReturn:
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(60)
    time.sleep(60)
    raise AssertionError


def daemon(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    """A background process that has left its session, its parent and every signal behind."""
    report, to_report = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.write(to_report, struct.pack("i", os.getpid()))
        loop({}, {})
    os.wait()
    return {"pid": struct.unpack("i", os.read(report, 4))[0]}, {}


def daemon_and_exit(header: Header, tensors: Tensors) -> NoReturn:
    daemon({}, {})
    os._exit(0)


def leak_tensors(header: Header, tensors: Tensors) -> NoReturn:
    kept = []
    while True:
        kept.append(torch.empty(32 << 20, dtype=torch.uint8))


def leak_objects(header: Header, tensors: Tensors) -> NoReturn:
    kept: list[object] = []
    while True:
        kept = [kept, kept, bytearray(1 << 16)]


def flood(header: Header, tensors: Tensors) -> NoReturn:
    while True:
        print("epoch" * 10_000)


def chatter(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    print("a\udcff", "b" * header["characters"])
    subprocess.run(["echo", "from below"], check=True)
    return {}, {}


def write_file(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    with open("large", "wb") as file:
        file.truncate(header["bytes"])
    return {}, {}


def close_connection(header: Header, tensors: Tensors) -> NoReturn:
    os.close(CONNECTION)
    time.sleep(60)
    raise AssertionError


def write_raw(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    """Whatever the test wants on the connection, before the true answer."""
    connection = socket.socket(fileno=os.dup(CONNECTION))
    connection.sendall(bytes.fromhex(header["raw"]))
    return {}, {}


def answer_twice(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    os.write(CONNECTION, encode({"id": header["number"], "reply": {"forged": True}}, {}))
    return {}, {}


def exit_after_answer(header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    threading.Timer(0.05, os._exit, (0,)).start()
    return {}, {}


def kill_monitor(header: Header, tensors: Tensors) -> NoReturn:
    daemon({}, {})
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
    raise AssertionError


HANDLERS: dict[str, Callable[[Header, Tensors], tuple[Header, Tensors]]] = {
    one.__name__: one
    for one in (
        double,
        train,
        surroundings,
        run_student,
        evaluate,
        ours,
        theirs,
        loop,
        burn,
        exit_now,
        abort,
        segfault,
        kill_self,
        signal_self,
        fork_bomb,
        daemon,
        daemon_and_exit,
        leak_tensors,
        leak_objects,
        flood,
        chatter,
        write_file,
        close_connection,
        write_raw,
        answer_twice,
        exit_after_answer,
        kill_monitor,
    )
}
