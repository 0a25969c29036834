"""The untrusted process: student code runs here, next to the handlers that answer the parent's requests."""

from __future__ import annotations

import gc
import importlib
import os
import random
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any, TypeGuard

import numpy as np
import numpy.random  # only now does it load what every child needs
import torch

from ..errors import Frame, OutOfMemory, StudentCodeFailed, SubmissionError
from ..host.collecting import clear_memory
from ..limits import FrameLimits, Limits
from ..questions.question import Raised
from ..questions.randomise import seed_random_state
from ..questions.wire import Header, Stream, parts, receive, send
from ..reading.code import STUDENT_PREFIX
from ..sandbox.confining import Order, confine
from . import grader_files

Handler = Callable[[Header], object]

_MESSAGE_CHARACTERS = 10_000
_QUOTED_CHARACTERS = 300
_LARGE = 1 << 24  # bytes of an answer
_LONG = 0.5  # processor seconds, of which to clear memory takes less than a tenth
_GARBAGE = 20_000  # new objects between two looks; recording a pass makes thousands, nearly all in use
_FRAMES = 50  # of a traceback, innermost first
_NO_FORWARD = "_forward_unimplemented"  # torch's function that raises where a module has none
_FROM_PARENT = FrameLimits(body_bytes=1 << 40, tensors=1 << 20)  # the parent is trusted; each file is one
_TORCH_OUT_OF_MEMORY = ("not enough memory", "can't allocate memory", "DefaultCPUAllocator", "std::bad_alloc")


class SocketStream:
    """A blocking socket as frames need it."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    def read(self, size: int) -> bytes:
        parts = []
        while size:
            part = self._socket.recv(min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)


def run(connection: socket.socket, order: Mapping[str, Any]) -> None:
    """Make this fresh fork the process of one submission, and serve until the parent hangs up.

    It may be forked before there is a submission for it: the parent sends the seed when there is.
    """
    module, _, name = order["handlers"].partition(":")
    handlers: Mapping[str, Handler] = getattr(importlib.import_module(module), name)
    layers = confine(Limits(**order["limits"]), order["sandbox"] and Order(**order["sandbox"]))
    _settle(order["scratch"], order["environment"])
    stream = SocketStream(connection)
    send(stream, vars(layers))  # the parent judges them before it sends any code
    with suppress(EOFError):  # it hangs up
        _draw_from(receive(stream, _FROM_PARENT)["seed"])
        grader_files.shut()
        serve(stream, handlers)


def _settle(scratch: str, environment: Mapping[str, str]) -> None:
    """Take a folder, arguments and threads of its own; all else is the zygote's."""
    os.chdir(scratch)
    os.environ.clear()
    os.environ.update(environment, HOME=scratch, TMPDIR=scratch)
    tempfile.tempdir = None  # forget the zygote's
    gc.set_threshold(_GARBAGE)
    sys.argv = ["submission"]
    # processes that the code starts by "spawn" would import the module that is run here, and cannot
    sys.modules["__main__"] = ModuleType("__main__")
    # torch renews its thread pool at the first call after a fork. The threads of a backward pass make that
    # call at once, and abort the process where they meet; so it is made here, while there is one thread.
    torch.set_num_threads(1)
    # as many as the machine has cores may be more than may be started, which would end the process
    torch.set_num_threads = _keep_threads


def _keep_threads(nthreads: int) -> None:
    pass


def _settle_torch() -> None:
    """Undo what the code may have set for all of torch: every question finds it as it was at first."""
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)


def _draw_from(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    seed_random_state(seed)


def serve(stream: Stream, handlers: Mapping[str, Handler]) -> None:
    """Answer each request by the handler of its name, whatever that raises. Ends with EOFError."""
    while True:
        began = time.process_time()
        sent = _serve_one(stream, handlers)
        if sent > _LARGE or time.process_time() - began > _LONG:
            clear_memory()


def _serve_one(stream: Stream, handlers: Mapping[str, Handler]) -> int:
    """The answer is how many bytes were sent."""
    answer = _answer(receive(stream, _FROM_PARENT), handlers)
    for part in answer:
        stream.write(part)
    return sum(map(len, answer))


def _answer(header: Header, handlers: Mapping[str, Handler]) -> tuple[bytes, bytes]:
    number, most = header.pop("id"), header.pop("most")
    try:
        _settle_torch()
        text, body = parts({"id": number, "reply": handlers[header.pop("request")](header)})
        # or it ends the conversation
        _check_size(len(text), FrameLimits().header_bytes, "does so many operations that their list takes")
        _check_size(len(body), most, "makes tensors of")
        return text, body
    except BaseException as error:  # SystemExit and KeyboardInterrupt are student code's too
        return parts({"id": number, "error": _describe(error)})


def _check_size(size: int, most: int, does: str) -> None:
    if size > most:
        raise OutOfMemory(f"one pass {does} {size >> 20} MB, more than {most >> 20} MB")


def _describe(error: BaseException) -> Raised | StudentCodeFailed:
    """What is answered in place of an answer."""
    if is_out_of_memory(error):
        traceback.clear_frames(error.__traceback__)  # they hold what filled the memory
        gc.collect()
        return Raised("out_of_memory", "", None)
    if isinstance(error, SubmissionError):
        return Raised(error.status, error.reason, error.frame)
    return _cut(error) if isinstance(error, StudentCodeFailed) else failure_of(error)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether ``error`` says that memory has run out, in Python or in torch."""
    if isinstance(error, RuntimeError):
        return any(sign in text_of(error) for sign in _TORCH_OUT_OF_MEMORY)
    return isinstance(error, MemoryError)


def failure_in_bounds(error: BaseException) -> StudentCodeFailed:
    """The same as ``failure_of``; where memory has run out, ``error`` is raised again."""
    if is_out_of_memory(error):
        raise error
    return failure_of(error)


def failure_of(error: BaseException) -> StudentCodeFailed:
    """An exception of the student's code, with their lines that it passed, innermost first."""
    name, frames = type(error).__name__, frames_of(error)
    return _cut(StudentCodeFailed(name, text_of(error), frames, is_placeholder(error)))


def is_placeholder(error: BaseException | None) -> TypeGuard[NotImplementedError]:
    """Does the code say by it that it is not written yet? torch raises the same for what it lacks itself."""
    if not isinstance(error, NotImplementedError) or "aten::" in text_of(error):
        return False
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames or not frames[-1].f_globals.get("__name__", "").startswith("torch."):
        return True
    return frames[-1].f_code.co_name == _NO_FORWARD and _has_no_methods(frames[-1].f_locals.get("self"))


def _has_no_methods(module: object) -> bool:
    """Is nothing written of its class but how it is made? Else ``forward`` has another name, or place."""
    if type(module) is torch.nn.Module:
        return True
    functions = {name: one for name, one in vars(type(module)).items() if isinstance(one, FunctionType)}
    made = functions.pop("__init__", None)
    inside = made.__code__.co_consts if made else ()
    beside = vars(sys.modules.get(type(module).__module__, object))
    return not functions and "forward" not in {*beside, *(getattr(one, "co_name", "") for one in inside)}


def _cut(failed: StudentCodeFailed) -> StudentCodeFailed:
    kind, message = (text[:_MESSAGE_CHARACTERS] for text in (failed.type, failed.message))
    return StudentCodeFailed(kind, message, failed.frames[:_FRAMES], failed.is_placeholder)


def quoted(error: BaseException) -> str:
    """An exception of the student's code within a sentence of ours."""
    return f"{type(error).__name__}: {text_of(error)}"[:_QUOTED_CHARACTERS]


def text_of(error: BaseException) -> str:
    """What an exception says; nothing where that raises another."""
    try:
        return str(error)
    except BaseException:  # a student's own __str__
        return ""


def frames_of(error: BaseException) -> tuple[Frame, ...]:
    """The lines of student code that ``error`` passed through, innermost first."""
    places = ((frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__))
    frames = [
        Frame(file.removeprefix(STUDENT_PREFIX), line)
        for file, line in places
        if file.startswith(STUDENT_PREFIX)
    ]
    return tuple(reversed(frames))
