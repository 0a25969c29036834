"""Commands in forks of this process, which has imported what each of them would import at its start.

So has what they start: their workers are forks, too, and their zygotes come from ``nursery``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn
from unittest.mock import patch

import pytest
from nursery import ready, started_quickly

from vitcheck import outputs  # noqa: F401  # so that forks have it
from vitcheck.__main__ import main
from vitcheck.reference import preprocessing  # noqa: F401  # as above

_COMMANDS: dict[str, Callable[[], object]] = {"vitcheck": main, "pytest": pytest.console_main}


def outside() -> dict[str, str]:
    """The environment without what pytest tells those below it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def forked(
    words: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """What a command did and said in ``folder``; others than ``vitcheck`` and ``pytest`` start as ever."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        with warnings.catch_warnings(), started_quickly():
            with patch.dict(os.environ, environment, clear=True):
                ready()
            warnings.simplefilter("ignore", DeprecationWarning)  # the threads of pytest-xdist stay behind
            pid = os.fork()
            if not pid:
                _become(words, folder, environment, out, errors)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(words, code, out.read(), errors.read())


def _become(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], out: IO[str], errors: IO[str]
) -> NoReturn:
    code: object = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115  # until the end
        warnings.simplefilter("ignore")  # in tests they are errors
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
        sys.argv = list(words)
        code = _COMMANDS[words[0]]() if words[0] in _COMMANDS else subprocess.run(words).returncode
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else bool(code))
