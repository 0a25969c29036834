"""System calls that Python has no functions for; each raises OSError where it is refused.

On other systems than Linux the first two do nothing, and the others are not called.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36  # PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of prctl(2)
READ_ONLY, NO_SETUID, NO_DEVICES = 1, 2, 4  # MS_RDONLY, MS_NOSUID and MS_NODEV of mount(2)
RECURSIVE, PRIVATE = 1 << 14, 1 << 18  # MS_REC and MS_PRIVATE
_MOUNT_SETATTR = 442  # of syscall(2), which has one number on all processors since there is one list
_HERE, _ALL_BELOW, _ATTRIBUTE_READ_ONLY = -100, 0x8000, 1  # AT_FDCWD, AT_RECURSIVE and MOUNT_ATTR_RDONLY
_CAPABILITIES_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3: two words for each of the three sets

_libc = ctypes.CDLL(None, use_errno=True)


def end_with(parent: int) -> None:
    """Have this process killed when its parent ends, which is process ``parent`` if it still lives."""
    _prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it died before this process could ask
        os._exit(1)


def adopt_orphans() -> None:
    """Be the parent of what descendants leave behind; elsewhere that is the system's first process."""
    _prctl(_ADOPT_ORPHANS, 1)


def unshare(flags: int) -> None:
    """Enter new namespaces; ``os`` has this from Python 3.12 on."""
    _check(_libc.unshare(flags))


def mount(kind: str, target: str, flags: int, options: str = "") -> None:
    """Put a file system without a source in place of ``target``."""
    _check(_libc.mount(kind.encode(), target.encode(), kind.encode(), flags, options.encode()))


def make_mounts_read_only() -> None:
    """Let nothing be changed in any file system that this mount namespace has; Linux has this since 5.12."""
    wanted = (ctypes.c_uint64 * 4)(_ATTRIBUTE_READ_ONLY)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    _check(_libc.syscall(_MOUNT_SETATTR, _HERE, b"/", _ALL_BELOW, wanted, size))


def drop_capabilities() -> None:
    """Give up every right that this process has beyond an ordinary user's, for good."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()))


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        _check(_libc.prctl(option, value, 0, 0, 0))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
