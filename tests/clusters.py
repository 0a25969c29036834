"""A Dask cluster on this machine, of the same commands that an administrator uses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_TESTS = Path(__file__).parent  # where workers find the tasks of tests
_START_SECONDS = 60.0


@contextmanager
def scheduler(folder: Path) -> Iterator[str]:
    """Yield the address of a scheduler without workers."""
    file = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    with _running("scheduler", *options, "--idle-timeout", "10 minutes"):  # if the tests are killed
        yield _address(file)


def _address(file: Path) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError, json.JSONDecodeError):  # it is written later, or just now
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    raise TimeoutError(f"no scheduler has written {file}")


@contextmanager
def workers(address: str, number: int) -> Iterator[None]:
    """Run processes that do one task at a time, and are started anew where they die."""
    with _running("worker", address, "--nworkers", str(number), "--nthreads", "1", "--no-dashboard"):
        yield


@contextmanager
def _running(command: str, *options: str) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", command, *options],
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(_TESTS)},
        start_new_session=True,  # so that none below it is left
    )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
