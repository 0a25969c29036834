"""How a process that runs submissions, or tries the sandbox for them, is started. Imports no torch."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

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

# sys is part of the interpreter: nothing is looked for before the working folder is left out
_COMMAND_LINE = """\
import sys
sys.path[:] = filter(None, sys.path)
from vitcheck.__main__ import main
main(prog_name="vitcheck")
"""


def command(module: str, *arguments: str) -> list[str]:
    """Run ``module`` by this interpreter."""
    return [sys.executable, "-m", module, *arguments]


def environment() -> dict[str, str]:
    """What that interpreter needs. Run it in the root folder: Python 3.10 imports from where it is."""
    return {name: paths for name, paths in whole_environment().items() if name in _PATHS} | CLEAN


def whole_environment() -> dict[str, str]:
    """All that there is here, but for folders that depend on where Python is started."""
    return {**os.environ, **{name: _fixed(os.environ[name]) for name in _PATHS if name in os.environ}}


def _fixed(paths: str) -> str:
    return os.pathsep.join(filter(os.path.isabs, paths.split(os.pathsep)))


def command_line(*arguments: str) -> list[str]:
    """``vitcheck``, by this interpreter and in any folder; give it ``whole_environment``.

    What ``-m`` names is looked for there first, and in a student's folder there may be a ``vitcheck.py``.
    """
    return [sys.executable, "-c", _COMMAND_LINE, *arguments]


@contextmanager
def elsewhere() -> Iterator[None]:
    """In the root folder meanwhile, for the first import of torch.

    Libraries that come with it look for those of a driver in the working folder as well, where a student's
    libcuda.so.1 may lie. Nothing else may go on in this process.
    """
    here = os.open(".", getattr(os, "O_PATH", os.O_RDONLY))
    os.chdir("/")
    try:
        yield
    finally:
        os.fchdir(here)
        os.close(here)
