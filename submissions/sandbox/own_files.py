"""Where the grader's own files lie, which hold the answer key, and how they are taken out of what is read.

Whatever a submission needs of them is in its process's memory before it is locked in (``child.keeping``).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from glob import iglob
from pathlib import Path

_ELSEWHERE = ("lib*/python3*/*-packages/", "local/lib*/python3*/*-packages/")  # of other interpreters


def hidden(own: Iterable[Iterable[str]], libraries: Collection[str], readable: Iterable[str]) -> list[str]:
    """Every file and folder of the grader's, by each of the ways that lead to it through ``readable``.

    ``own`` are groups of folders of its packages: all that lies beside them is the grader's as well, such as
    its tests where it is installed from a repository, but for the ``libraries`` there.
    """
    ways = [*readable]
    kept = {os.path.realpath(one) for one in libraries}
    roots = {os.path.realpath(os.path.commonpath([*folders])) for folders in own if folders}
    parts = {part for root in (roots | _other_copies(ways)) for part in _carved(root, kept)}
    forms = {form for part in parts for way in ways for form in _through(way, part)}
    return sorted(parts | forms)


def _other_copies(readable: Iterable[str]) -> set[str]:
    package = str(__package__).partition(".")[0]
    found = (one for way in readable for below in _ELSEWHERE for one in iglob(f"{way}/{below}{package}"))
    return {os.path.realpath(one) for one in found}


def _carved(root: str, kept: Collection[str]) -> Iterator[str]:
    """``root``, or what lies in it and neither is to be kept nor holds what is."""
    if not any(_is_below(one, root) for one in kept):
        yield root
        return
    for entry in os.scandir(root):
        if entry.path not in kept and not entry.is_symlink():
            yield from _carved(entry.path, kept)


def _through(way: str, part: str) -> Iterator[str]:
    real = os.path.realpath(way)
    if part == real or _is_below(part, real):
        yield os.path.normpath(os.path.join(way, os.path.relpath(part, real)))


def _is_below(path: str, folder: str) -> bool:
    return path != folder and Path(path).is_relative_to(folder)


def without(path: str, hidden: Collection[str]) -> Iterator[tuple[str, bool]]:
    """``path`` in pieces that leave out what is hidden: what may be read with all below, or listed only."""
    if path in hidden:
        return
    if not any(one.startswith(f"{path}/") for one in hidden):
        yield path, True
        return
    yield path, False
    for entry in os.scandir(path):
        if not entry.is_symlink():  # what it leads to is below, or has a path of its own
            yield from without(entry.path, hidden)


def try_them(hidden: Iterable[str]) -> list[str]:
    """Raises OSError where one of them can still be opened."""
    for path in hidden:
        files = (os.path.join(folder, file) for folder, _, files in os.walk(path) for file in files)
        if one := next(files, path if os.path.isfile(path) else None):
            _try(one)
    return ["no answer key"]


def _try(file: str) -> None:
    try:
        os.close(os.open(file, os.O_RDONLY))
    except OSError:
        return
    raise OSError(f"{file} can still be read")
