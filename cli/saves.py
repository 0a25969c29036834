"""What stands at a path, again at every save."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from watchfiles import watch

from vitcheck.submissions.reading.packing import HandIn, pack

_SETTLED_SECONDS = 0.03  # in which what is being written changes: a save takes less than one millisecond
_MISSING_SECONDS = 0.2  # between two looks for a folder that is gone
_REPLACED_MS = 1000  # between two looks whether another folder stands in the place of the one that is watched


def saves(path: Path) -> Iterator[HandIn | None]:
    """Yield what is handed in at ``path``, and again whenever that has changed; None when it is gone.

    What happens between two of them is not lost: the next is what stands there then. Never ends by itself.
    """
    path = path.resolve()
    last: str | None = ""
    for _ in _looks(path if path.is_dir() else path.parent, whole=path.is_dir()):
        handed, digest = _settled(path)
        if digest != last:
            last = digest
            yield handed


def _settled(path: Path) -> tuple[HandIn | None, str | None]:
    """What stands there and its digest, once it stays: editors empty a file before they write it."""
    digest: str | None = ""
    while True:
        before, handed = digest, pack(path) if path.exists() else None
        digest = handed.digest if handed else None
        if digest == before:
            return handed, digest
        time.sleep(_SETTLED_SECONDS)


def _looks(folder: Path, *, whole: bool) -> Iterator[None]:
    """Whenever something may have changed in ``folder``, or below it; it may go and come back.

    The folder is watched and not the file, in whose place an editor may put another.
    """
    while True:
        yield
        while not folder.is_dir():
            time.sleep(_MISSING_SECONDS)
        watched = folder.stat().st_ino
        changes = watch(
            folder,
            recursive=whole,
            watch_filter=None,  # whether anything that counts has changed is seen by its content
            yield_on_timeout=True,
            rust_timeout=_REPLACED_MS,
        )
        for number, changed in zip(count(), changes):
            if not folder.is_dir() or folder.stat().st_ino != watched:
                break
            if changed or number == 0:  # it may have changed before it was watched
                yield
