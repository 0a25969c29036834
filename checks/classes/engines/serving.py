"""A worker process: run as ``python -m vitcheck.checks.classes.engines.serving FD SCRATCH FOLDER``.

FD is its connection to the process that started it, and FOLDER the one in which that works.
"""

from __future__ import annotations

import os
import select
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from signal import SIG_IGN, SIGINT, signal
from typing import NoReturn

from ...examining.passes.pictures import PictureError
from ..tasks import Task
from . import EngineError, GraderFailedError
from .worker import Worker


def main(descriptor: str, scratch: str, folder: str) -> None:
    """Grade what arrives until the other side hangs up."""
    signal(SIGINT, SIG_IGN)  # the other side is interrupted too, and decides
    threading.Thread(target=_end_with_the_other_side, args=[int(descriptor)], daemon=True).start()
    os.chdir(folder)
    tempfile.tempdir = scratch  # the other side clears up what is left if this one is stopped
    connection = Connection(int(descriptor))
    with Worker() as worker, suppress(EOFError, OSError):  # it may hang up before it is answered, too
        while True:
            connection.send(_answer(worker, connection.recv()))


def begin(descriptor: int, scratch: str, folder: str) -> NoReturn:
    """Become a worker process, in a fresh copy of the one that gives it tasks."""
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        main(str(descriptor), scratch, folder)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)  # without the clean-up of the one that it is a copy of


def _answer(worker: Worker, task: Task) -> tuple[str, bytes | None] | Exception:
    """A record and the arrays of its figures, or why there is none."""
    try:
        result = worker.grade(task)
    except (PictureError, EngineError) as error:
        return error
    except Exception:
        return GraderFailedError(traceback.format_exc())
    return result.to_json(), result.arrays


def _end_with_the_other_side(descriptor: int) -> None:
    """At once, even in the midst of a task, which the next run would do as well.

    The system's own signal will not do: it comes when the *thread* ends that started this process.
    """
    hung_up = select.poll()
    hung_up.register(descriptor, 0)  # which leaves the hanging up
    hung_up.poll()
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
