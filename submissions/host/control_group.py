"""A control group of the kernel for one submission, where one may be made; the parent's watch holds anyway.

It counts what nothing else does: what the kernel itself holds for a process, such as full pipes and sockets.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from ..limits import Limits

_ROOT = Path("/sys/fs/cgroup")
_NEEDED = {"memory", "pids"}
_DELEGATED = ("trusted.delegate", "user.delegate")  # how systemd marks what is not its own any more
_numbers = count()


class ControlGroup:
    """One that has been made, in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def ran_out(self) -> bool:
        """Has the kernel ended something in it for want of memory?"""
        try:
            events = dict(line.split() for line in (self._folder / "memory.events").read_text().splitlines())
        except OSError:  # it has been cleared
            return False
        return events.get("oom_kill", "0") != "0"

    def clear(self) -> None:
        """Remove it; no process is left in it."""
        with contextlib.suppress(OSError):
            self._folder.rmdir()


def open_group(limits: Limits, processes: Iterable[int], root: Path = _ROOT) -> ControlGroup | None:
    """Put ``processes``, and what they start, into a group of their own; None where that cannot be had."""
    try:
        above = _delegated(root)
        if above is None:
            return None
        folder = above / f"vitcheck-{os.getpid()}-{next(_numbers)}"
        folder.mkdir()
    except OSError:
        return None
    group = ControlGroup(folder)
    try:
        for name, value in _settings(limits).items():
            (folder / name).write_text(value)
        for one in processes:
            (folder / "cgroup.procs").write_text(str(one))
    except OSError:
        group.clear()
        return None
    return group


def _settings(limits: Limits) -> dict[str, str]:
    return {
        "memory.max": str(limits.memory_bytes),
        "memory.oom.group": "1",  # all of it ends, not the process that happens to be the largest
        "pids.max": str(limits.processes),
    }


def _delegated(root: Path) -> Path | None:
    """The group that this process is in, or the one above, where it is given away with what is needed."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), None)
    if own is None:
        return None
    near = (folder for folder in (root / own, (root / own).parent) if folder.is_relative_to(root))
    return next((folder for folder in near if _gives(folder) and _is_given_away(folder, root)), None)


def _gives(folder: Path) -> bool:
    given = folder / "cgroup.subtree_control"
    return given.exists() and set(given.read_text().split()) >= _NEEDED


def _is_given_away(folder: Path, root: Path) -> bool:
    """Root may write everywhere, but should not where systemd rules."""
    if os.geteuid():
        return os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
    above = [folder, *folder.parents][: len(folder.relative_to(root).parts)]
    return any(mark in os.listxattr(one) for one in above for mark in _DELEGATED)
