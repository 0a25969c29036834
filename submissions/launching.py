"""How a process that runs submissions, or tries the sandbox for them, is started. Imports no torch."""

from __future__ import annotations

import os
import sys

_PATHS = ("PYTHONPATH", "LD_LIBRARY_PATH")  # without these the same Python might find another torch
CLEAN = {
    "PATH": os.environ.get("PATH", os.defpath),
    "LANG": "C.UTF-8",
    "LOGNAME": "submission",  # libraries that ask for it end where there are no users to look it up in
    "OMP_NUM_THREADS": "1",  # before the interpreter starts: a thread pool does not survive a fork
    "MKL_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "MPLBACKEND": "Agg",  # no window
    "PYTHONHASHSEED": "0",  # the order of sets repeats
    "PYTHONBREAKPOINT": "0",
    "PYTHONSAFEPATH": "1",
    "PYTHONUNBUFFERED": "1",  # what is printed before a crash arrives
    "PYTHONIOENCODING": "utf-8:backslashreplace",
}  # all that a submission sees of the environment


def command(module: str, *arguments: str) -> list[str]:
    """Run ``module`` by this interpreter."""
    return [sys.executable, "-m", module, *arguments]


def environment() -> dict[str, str]:
    """What that interpreter needs. Run it in the root folder: Python 3.10 imports from where it is."""
    return {name: os.environ[name] for name in _PATHS if name in os.environ} | CLEAN
