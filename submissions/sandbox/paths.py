"""Which paths a submission's process sees: Python, its libraries, and until it is locked in vitcheck.

Run as ``python -m vitcheck.submissions.sandbox.paths``, it prints those of the interpreter that it is run by.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..launching import command, environment
from .own_files import hidden

_PACKAGE = str(__package__).partition(".")[0]
_PARTS = tuple(f"{_PACKAGE}{part}" for part in ("", ".reference", ".submissions"))
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")


@dataclass(frozen=True)
class Paths:
    """Files and folders, outermost first; of those that are readable none lies inside another."""

    readable: list[str]
    hidden: list[str]  # of these, once a process has imported what it needs


def find_paths() -> Paths:
    """A fresh interpreter says them: this one's search path may begin with the folder of the submissions."""
    said = subprocess.check_output(command(f"{__package__}.paths"), cwd="/", env=environment())
    libraries, *own = json.loads(said)
    readable = _outermost([*_SYSTEM, *libraries, *(path for folders in own for path in folders)])
    return Paths(readable, hidden(own, libraries, readable))


def _outermost(paths: Iterable[str]) -> list[str]:
    """Those that exist, as they are called and as they really are."""
    both = {form for path in paths for form in (os.path.normpath(path), os.path.realpath(path))}
    kept: list[str] = []
    for path in sorted(one for one in both if os.path.exists(one)):
        if path != "/" and not any(Path(path).is_relative_to(one) for one in kept):
            kept.append(path)
    return kept


def _of_this_interpreter() -> Iterator[str]:
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    yield os.path.dirname(os.path.realpath(sys.executable))
    yield sysconfig.get_config_var("LIBDIR") or ""
    yield from sys.path
    yield from _folders_of_libraries()


def _folders_of_vitcheck() -> list[str]:
    specs = [find_spec(part) for part in _PARTS]
    return [folder for spec in specs for folder in (spec and spec.submodule_search_locations) or ()]


def _linked_from(folders: Iterable[str]) -> list[str]:
    """Installed for development, they may hold links to files anywhere."""
    files = (file for folder in folders for file in Path(folder).glob("*.py"))
    return sorted({os.path.dirname(os.path.realpath(file)) for file in files})


def _folders_of_libraries() -> Iterator[str]:
    """Of those that the system has loaded for it, and where it is told to look for others."""
    yield from os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    for line in Path("/proc/self/maps").read_text().splitlines():
        _, _, path = line.partition("/")
        if ".so" in path:
            yield os.path.dirname(f"/{path}")


if __name__ == "__main__":
    _own = _folders_of_vitcheck()
    print(json.dumps([[*filter(os.path.isabs, _of_this_interpreter())], _own, _linked_from(_own)]))
