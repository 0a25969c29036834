"""Landlock: the kernel refuses files outside a list of paths, and signals to processes outside."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from .own_files import without

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_SCOPES_SINCE = 6  # the interface version that confines signals


def restrict(readable: Iterable[str], hidden: Collection[str], writable: Iterable[str]) -> list[str]:
    """Confine this process to what is ``readable``, but for what is ``hidden``; say what is in force.

    Raises OSError where the kernel has no Landlock, and ImportError without the library.
    """
    from landlockpy import AccessFS, Ruleset, Scope

    read_file = AccessFS.READ_FILE | AccessFS.EXECUTE
    device = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.IOCTL_DEV
    with Ruleset(scoped=Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET) as rules:
        for path, whole in (
            piece for one in filter(os.path.exists, readable) for piece in without(one, hidden)
        ):
            folder = AccessFS.READ_DIR if os.path.isdir(path) else AccessFS(0)  # of all below, as ever
            rules.allow_path(path, folder | (read_file if whole else AccessFS(0)))
        for path in filter(os.path.exists, _DEVICES):
            rules.allow_path(path, device)
        for path in filter(os.path.exists, writable):
            rules.allow_path(path, rules.handled_fs)
        rules.restrict()
        in_force = [f"Landlock ABI {rules.abi_version}"]
        if rules.abi_version >= _SCOPES_SINCE:
            in_force.append("Landlock signal scope")
    _try_it()
    return in_force


def _try_it() -> None:
    try:
        os.listdir("/")
    except PermissionError:
        return
    raise OSError("Landlock lets the root folder be listed, which it should not")
