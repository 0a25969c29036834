"""Files on disk, as somebody may have left them to do harm: only plain ones are read, never without end."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ..errors import NotLoaded, Refused
from .unseen import plain

_ENTRIES = 200_000  # of a folder with all below it; a forgotten virtual environment has a tenth of it
_DEPTH = 40  # of folders in folders
_PATH_BYTES = 1000  # of a path below the folder; systems take 4,096 with what stands before it
_PIECE = 1 << 20
_SKIPPED = {"__pycache__", "__MACOSX", "venv", "env", "node_modules", "site-packages"}
_KINDS = {
    stat.S_IFLNK: "a link, which is not followed",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}

# leaves no program waiting for a pipe, and follows no link; what a system has not is nothing
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW


def size_of(file: Path) -> int:
    """Return the size of a plain file in bytes. Raises NotLoaded for anything else that has a name."""
    told = _stat(file)
    _demand_plain(file.name, told.st_mode)
    return told.st_size


def read(file: Path, most: int) -> bytes:
    """Return the bytes of a plain file. Raises NotLoaded, and Refused where there are more than ``most``."""
    content = beginning(file, most + 1)
    if len(content) > most:
        raise Refused(f"{plain(file.name)} is larger than {most // 2**20} MB")
    return content


def beginning(file: Path, most: int) -> bytes:
    """Return up to ``most`` bytes of a plain file, whatever size it says it has. Raises NotLoaded."""
    size_of(file)  # before it is opened, which may have its effects on a device
    try:
        with open(os.open(file, _FLAGS), "rb", buffering=0) as opened:
            _demand_plain(file.name, os.fstat(opened.fileno()).st_mode)
            pieces = []
            while most > 0 and (piece := opened.read(min(most, _PIECE))):
                pieces.append(piece)
                most -= len(piece)
    except OSError as error:
        raise cannot_be_read(file.name, error) from error
    return b"".join(pieces)


def cannot_be_read(name: str, error: OSError) -> NotLoaded:
    """What is said where the system does not let a file or folder be read."""
    return NotLoaded(f"{plain(name)} cannot be read: {error.strerror or error}")


def _stat(file: Path) -> os.stat_result:
    try:
        return file.lstat()
    except OSError as error:
        raise cannot_be_read(file.name, error) from error


def _demand_plain(name: str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise NotLoaded(f"{plain(name)} is {_KINDS.get(stat.S_IFMT(mode), 'something else')}, and no file")


@dataclass
class FolderFiles:
    """The plain files below a folder, size by path, those further up first; why anything else is left out."""

    sizes: dict[str, int] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def walk(folder: Path, most: int = _ENTRIES) -> FolderFiles:
    """Look through a folder, up to ``most`` files and folders in it, in an order that is always the same.

    Raises NotLoaded where it cannot be read.
    """
    found, waiting, count = FolderFiles(), deque([""]), 0
    while waiting:
        inside = waiting.popleft()
        try:
            entries = _entries(folder / inside, most)
        except OSError as error:
            if not inside:
                raise cannot_be_read(folder.name, error) from error
            found.left.append(cannot_be_read(inside, error).reason)
            continue
        count += len(entries)
        if count > most:
            found.left.append(f"{inside or folder.name} and what follows: there are more than {most:,} files")
            break
        waiting += _sorted_in(entries, inside, found)
    return found


def is_skipped(part: str) -> bool:
    """Say whether files and folders of this name are hidden, or no work of a student."""
    return part.startswith(".") or part in _SKIPPED


def is_hidden_code(name: str) -> bool:
    """Is a file hidden, and code? What an editor or macOS writes beside files is not."""
    return (
        name.startswith(".")
        and name.lower().endswith((".py", ".ipynb"))
        and not name.startswith(("._", ".~", ".#"))
    )


def _entries(folder: Path, most: int) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(islice(entries, most + 1))


def _sorted_in(entries: list[os.DirEntry[str]], inside: str, found: FolderFiles) -> Iterator[str]:
    """Note the files, and yield the folders."""
    for entry in sorted(entries, key=lambda one: one.name):
        path = f"{inside}/{entry.name}".lstrip("/")
        mode = entry.stat(follow_symlinks=False).st_mode
        if is_skipped(entry.name):
            found.left += [f"{path} is hidden by the dot in front"] if is_hidden_code(entry.name) else []
        elif len(os.fsencode(path)) > _PATH_BYTES or path.count("/") > _DEPTH:
            found.left.append(f"{path[:80]}… lies too deep in folders")
        elif stat.S_ISDIR(mode):
            yield path
        elif stat.S_ISREG(mode):
            found.sizes[path] = entry.stat(follow_symlinks=False).st_size
        else:
            found.left.append(f"{path} is {_KINDS.get(stat.S_IFMT(mode), 'something else')}")
