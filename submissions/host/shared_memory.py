"""The machine's shared memory, where a submission has none of its own: what it makes is known by being new.

What another program of the same user makes at that time cannot be told from it, unless it holds it open.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import psutil

FOLDER = "/dev/shm"
_BLOCK = 512  # bytes, of which stat(2) counts what a file takes


class SharedMemory:
    """What has come into ``folder`` since this was made."""

    def __init__(self, folder: str = FOLDER) -> None:
        self._folder = folder
        self._before = {one.inode() for one in self._entries()}

    def sizes(self) -> Iterator[tuple[tuple[int, int], int]]:
        """Bytes of each new file of this user's, by device and number."""
        for entry in self._new():
            with contextlib.suppress(OSError):  # it is gone by now
                yield size_of(entry.stat(follow_symlinks=False))

    def clear(self) -> None:
        """Remove what is new and nobody uses."""
        new = [*self._new()]
        used = _used_below(self._folder) if new else ""
        for entry in new:
            if entry.path not in used:
                with contextlib.suppress(OSError):  # somebody else was faster
                    os.rmdir(entry) if entry.is_dir(follow_symlinks=False) else os.unlink(entry)

    def _new(self) -> Iterator[os.DirEntry[str]]:
        for entry in self._entries():
            with contextlib.suppress(OSError):
                if (
                    entry.inode() not in self._before
                    and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
                ):
                    yield entry

    def _entries(self) -> list[os.DirEntry[str]]:
        with contextlib.suppress(OSError):
            return [*os.scandir(self._folder)]
        return []


def size_of(told: os.stat_result) -> tuple[tuple[int, int], int]:
    """Device and number of a file, and the bytes that it takes."""
    return (told.st_dev, told.st_ino), told.st_blocks * _BLOCK


def _used_below(folder: str) -> str:
    """A text in which the files below ``folder`` stand that any process has mapped or open."""
    found = []
    for process in psutil.pids():
        with contextlib.suppress(OSError):  # another's, or it has just ended
            found += Path(f"/proc/{process}/maps").read_text("utf-8", "replace").splitlines()
        with contextlib.suppress(OSError):
            found += filter(None, map(_target, Path(f"/proc/{process}/fd").iterdir()))
    return "\n".join(line for line in found if folder in line)


def _target(link: Path) -> str | None:
    with contextlib.suppress(OSError):  # it has just been closed
        return os.readlink(link)
    return None
