"""A worker process: run as ``python -m vitcheck.checks.engines.serving FD SCRATCH PARENT FOLDER``.

FD is its connection to the process PARENT, and FOLDER the one in which that works.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from multiprocessing.connection import Connection
from signal import SIG_IGN, SIGINT, signal

from ...submissions.sandbox.kernel import end_with
from ..tasks import Task
from .worker import Worker


def main(descriptor: str, scratch: str, parent: str, folder: str) -> None:
    """Grade what arrives until the other side hangs up. Whatever goes wrong here ends the process."""
    signal(SIGINT, SIG_IGN)  # the other side is interrupted too, and decides
    end_with(int(parent))  # what is at work would be graded by the next run as well
    os.chdir(folder)
    tempfile.tempdir = scratch  # the other side clears up what is left if this one is stopped
    connection = Connection(int(descriptor))
    with Worker() as worker, suppress(EOFError):
        while True:
            task: Task = connection.recv()
            result = worker.grade(task)
            connection.send((result.to_json(), result.arrays))


if __name__ == "__main__":
    main(*sys.argv[1:])
