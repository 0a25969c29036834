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
from vitcheck.submissions.questions.wire import parts

Header = dict[str, Any]

CONNECTION = 3


def double(header: Header) -> Header:
    return {name: value * 2 if isinstance(value, torch.Tensor) else value for name, value in header.items()}


def many(header: Header) -> Header:
    return {"records": ["record"] * header["count"]}


def train(header: Header) -> Header:
    weight = torch.randn(64, 64, requires_grad=True)
    (gradient,) = torch.autograd.grad((weight @ weight.T).sum(), weight)
    return {"shape": list(gradient.shape)}


def surroundings(header: Header) -> Header:
    return {
        "cwd": os.getcwd(),
        "home": os.path.expanduser("~"),
        "environment": sorted(os.environ),
        "descriptors": sorted(int(one) for one in os.listdir("/proc/self/fd") if _is_open(int(one))),
        "arguments": sys.argv,
        "stdin": sys.stdin.read(),
        "random": [random.random(), float(np.random.rand()), float(torch.rand(()))],
        "threads": torch.get_num_threads(),
    }


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:  # the one that listed the folder
        return False
    return True


def run_student(header: Header) -> Header:
    exec(compile(header["source"], "<submission>/model.py", "exec"), {})
    return {}


def evaluate(header: Header) -> Header:
    """What the source leaves in ``value``."""
    left: dict[str, Any] = {}
    exec(header["source"], left)
    return {"value": left.get("value")}


def ours(header: Header) -> NoReturn:
    raise NotLoaded("no model", Frame("model.py", 3))


def theirs(header: Header) -> NoReturn:
    raise StudentCodeFailed("ValueError", "wrong", (Frame("model.py", 3),))


def loop(header: Header) -> NoReturn:
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


def burn(header: Header) -> NoReturn:
    while True:
        pass


def exit_now(header: Header) -> NoReturn:
    print("last words")
    os._exit(3)


def abort(header: Header) -> NoReturn:
    os.abort()


def segfault(header: Header) -> NoReturn:
    ctypes.string_at(0)
    raise AssertionError


def kill_self(header: Header) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def signal_self(header: Header) -> NoReturn:
    os.kill(os.getpid(), signal.SIGRTMIN + 1)  # has no name
    raise AssertionError


def fork_bomb(header: Header) -> NoReturn:
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(60)
    time.sleep(60)
    raise AssertionError


def daemon(header: Header) -> Header:
    """A background process that has left its session, its parent and every signal behind."""
    report, to_report = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.write(to_report, struct.pack("i", os.getpid()))
        loop({})
    os.wait()
    return {"pid": struct.unpack("i", os.read(report, 4))[0]}


def daemon_and_exit(header: Header) -> NoReturn:
    daemon({})
    os._exit(0)


def leak_tensors(header: Header) -> NoReturn:
    kept = []
    while True:
        kept.append(torch.empty(32 << 20, dtype=torch.uint8))


def leak_objects(header: Header) -> NoReturn:
    kept: list[object] = []
    while True:
        kept = [kept, kept, bytearray(1 << 16)]


def flood(header: Header) -> NoReturn:
    while True:
        print("epoch" * 10_000)


def chatter(header: Header) -> Header:
    print("a\udcff", "b" * header["characters"])
    subprocess.run(["echo", "from below"], check=True)
    return {}


def write_file(header: Header) -> Header:
    with open("large", "wb") as file:
        file.truncate(header["bytes"])
    return {}


def close_connection(header: Header) -> NoReturn:
    os.close(CONNECTION)
    time.sleep(60)
    raise AssertionError


def write_raw(header: Header) -> Header:
    """Whatever the test wants on the connection, before the true answer."""
    connection = socket.socket(fileno=os.dup(CONNECTION))
    connection.sendall(bytes.fromhex(header["raw"]))
    return {}


def answer_twice(header: Header) -> Header:
    os.write(CONNECTION, b"".join(parts({"id": header["number"], "reply": {"forged": True}})))
    return {}


def exit_after_answer(header: Header) -> Header:
    threading.Timer(0.05, os._exit, (0,)).start()
    return {}


def kill_monitor(header: Header) -> NoReturn:
    daemon({})
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
    raise AssertionError


HANDLERS: dict[str, Callable[[Header], Header]] = {
    one.__name__: one
    for one in (
        double,
        many,
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
