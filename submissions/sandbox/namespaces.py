"""Worlds of its own for one submission: processes, mounts, network, users, names and shared memory."""

from __future__ import annotations

import os
from pathlib import Path

from . import kernel

# CLONE_NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET of clone(2)
_MOUNTS, _HOST_NAME, _IPC = 0x00020000, 0x04000000, 0x08000000
_USERS, _PROCESSES, _NETWORK = 0x10000000, 0x20000000, 0x40000000
ALL = _MOUNTS | _HOST_NAME | _IPC | _USERS | _PROCESSES | _NETWORK
_FILES = 4096  # as many can be made in a folder in memory


def enter() -> None:
    """Move this process into new namespaces; its next child is the first process in them.

    Raises OSError where the system refuses, after which this process must not go on.
    """
    user, group = os.getuid(), os.getgid()
    kernel.unshare(ALL)
    Path("/proc/self/setgroups").write_text("deny")  # the kernel asks for it before the map of groups
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    kernel.mount("none", "/", kernel.RECURSIVE | kernel.PRIVATE)


def mount_memory(target: str, size: int) -> None:
    """Put an empty folder of at most ``size`` bytes in place of ``target``."""
    flags = kernel.NO_SETUID | kernel.NO_DEVICES
    kernel.mount("tmpfs", target, flags, f"size={size},nr_inodes={_FILES},mode=700")


def hide(folder: str) -> None:
    """Put nothing in its place, as in that of /proc: a new one cannot be mounted inside bubblewrap."""
    flags = kernel.NO_SETUID | kernel.NO_DEVICES | kernel.READ_ONLY
    kernel.mount("tmpfs", folder, flags, "size=4k,nr_inodes=2,mode=555")
