"""From a save to its verdict in the warm process, beside a check that starts from nothing.

``watch`` is ``vitcheck check --watch``, from the save to the printed verdict; ``library`` a further
``vitcheck.check`` in one Python.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from common import CORRECT_MODELS, show

import vitcheck

_TIMES = 3
_CHECK = [sys.executable, "-m", "vitcheck", "check"]


class Watching:
    """The command on ``file``."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._process = subprocess.Popen([*_CHECK, file, "--watch"], stdout=subprocess.PIPE, text=True)
        self._verdict()

    def save(self) -> float:
        """Seconds until the verdict on a version with one more comment is there."""
        began = time.perf_counter()
        with self._file.open("a", encoding="utf-8") as file:
            file.write("# saved again\n")
        self._verdict()
        return time.perf_counter() - began

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.communicate()

    def _verdict(self) -> None:
        assert self._process.stdout
        while not self._process.stdout.readline().startswith("watching "):
            assert self._process.poll() is None


def cold(file: Path) -> float:
    """Seconds of the command from nothing."""
    began = time.perf_counter()
    subprocess.run([*_CHECK, file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def again(file: Path) -> float:
    """Seconds of a check in this Python."""
    began = time.perf_counter()
    vitcheck.check(file)
    return time.perf_counter() - began


def row(example: Path, folder: Path) -> tuple[object, ...]:
    """In turn, so that what else the machine does falls on all."""
    file = Path(shutil.copy(example, folder))
    watching = Watching(file)
    again(file)
    runs = [(cold(file), watching.save(), again(file)) for _ in range(_TIMES)]
    watching.stop()
    return (
        example.name,
        *(median(times) for times in zip(*runs)),
        median(save / check for check, save, _ in runs),
        median(further / check for check, _, further in runs),
    )


def main() -> None:
    """Print the table, in seconds, of the examples that are a single file."""
    head = ("submission", "cold check", "watch", "library", "watch, ratio", "library, ratio")
    with TemporaryDirectory() as folder:
        show(head, [row(path, Path(folder)) for path in CORRECT_MODELS if path.suffix == ".py"])


if __name__ == "__main__":
    main()
