"""What submissions and their files are called: as text, within bounds, and no two alike."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .archives import SUFFIXES
from .unseen import plain

_BYTES = 180  # of a name: file systems take 255, or 143 where they encrypt, and ours adds a number
_DATABASE = (f"gradebook.sqlite{one}" for one in ("", "-wal", "-shm", "-journal"))
_OURS = {"index.html", "grades.csv", "grades.json", "marking", *_DATABASE}
CODE_FILES = (".py", ".ipynb", *SUFFIXES)


def text_of(name: str) -> str:
    r"""Return the name of a file as text of no more than 180 bytes, in which every character can be seen.

    Bytes that are none, of an old archive, are written as ``\xe9``. Of a longer name the beginning is kept,
    with a number that tells it from others, and its suffix.
    """
    text = plain(name, keep="")
    if len(text.encode()) <= _BYTES:
        return text
    number = hashlib.sha256(os.fsencode(name)).hexdigest()[:12]
    suffix = next((one for one in CODE_FILES if text.lower().endswith(one)), "")
    return f"{text.encode()[: _BYTES - 20].decode('utf-8', 'ignore')}~{number}{suffix}"


def text_of_path(path: str) -> str:
    """Return a relative path with each of its parts as ``text_of`` has it."""
    return "/".join(map(text_of, path.split("/")))


def submission_name(path: Path) -> str:
    """Return ``alice`` for a folder ``alice``, for ``alice.py`` and for ``alice.tar.gz``."""
    if path.is_dir():
        return text_of(path.name if path.is_symlink() else path.resolve().name)
    for suffix in sorted(CODE_FILES, key=len, reverse=True):
        if path.name.lower().endswith(suffix) and len(path.name) > len(suffix):
            return text_of(path.name[: -len(suffix)])
    return text_of(path.name)


def submission_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each of ``paths``, no two of which any file system takes for the same.

    It is the plain name where that is free, else the one with suffix, else the one with a number. The names
    of what stands beside the submissions' folders are never free.
    """
    plain = [submission_name(path) for path in paths]
    counts = Counter([*map(_alike, plain), *_OURS])
    taken = {name for name, count in counts.items() if count == 1} | _OURS
    names = []
    for path, name in zip(paths, plain, strict=True):
        if counts[_alike(name)] > 1:
            name = _free(text_of(path.name), taken)
        names.append(name)
    return names


def _alike(name: str) -> str:
    """The same for names that differ in what some file systems leave out of account."""
    composed = unicodedata.normalize("NFC", name)
    return unicodedata.normalize("NFC", composed.casefold()).rstrip(". ")


def _free(name: str, taken: set[str]) -> str:
    """Take ``name``, with the first number that makes it new if it is taken."""
    candidate, number = name, 1
    while _alike(candidate) in taken:
        number += 1
        candidate = f"{name}-{number}"
    taken.add(_alike(candidate))
    return candidate
