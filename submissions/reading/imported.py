"""A file together with the modules of its author's own that it imports, and that lie beside it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..errors import SubmissionError
from .choosing import CODE_BYTES
from .files import is_skipped, read
from .python_text import NotPythonError, decode, imports, parse

_MOST = 64  # files: what is imported further is missing, as it is where nothing lies beside the file
_UP = 3  # folders above the file, in which ``models.vit`` may lie for ``models/train.py``


@dataclass(frozen=True)
class Imported:
    """Where modules are looked for from, and what was found, by the path from there."""

    root: Path
    files: dict[str, bytes]


def imported(file: Path) -> Imported | None:
    """The file and what it imports, directly or not; None where all of that is installed, or not there."""
    found, todo, bases = dict[Path, bytes](), [file], {file.parent}
    while todo and len(found) < _MOST:
        path = todo.pop(0)
        try:
            found[path] = read(path, CODE_BYTES)
        except SubmissionError:
            continue
        for parts, level in _asked_for(found[path]):
            base = _base(path, parts, level)
            if base is not None:
                bases.add(base)
                todo += [one for one in _lying(base, parts) if one not in found and one not in todo]
    if len(found) < 2 or file not in found:
        return None
    root = Path(os.path.commonpath([*bases, *(one.parent for one in found)]))
    return Imported(root, {one.relative_to(root).as_posix(): content for one, content in found.items()})


def _asked_for(code: bytes) -> Iterator[tuple[tuple[str, ...], int]]:
    """The dotted names of all imports, and how many folders up they begin."""
    try:
        tree = parse(decode(code))
    except NotPythonError:
        return
    for name, level in (one for node in ast.walk(tree) for one in imports(node)):
        yield tuple(filter(None, name.split("."))), level


def _base(file: Path, parts: tuple[str, ...], level: int) -> Path | None:
    """The folder in which the first of these names lies; above the file, none that is installed."""
    if level:
        return file.parents[level - 1] if level <= len(file.parents) else None
    if is_skipped(parts[0]):
        return None
    for number, folder in enumerate(list(file.parents)[: _UP + 1]):
        if next(_lying(folder, parts), None) is not None:
            return folder
        if number == 0 and _is_installed(parts[0]):
            return None
    return None


def _lying(base: Path, parts: tuple[str, ...]) -> Iterator[Path]:
    """What is executed for ``a.b.c``: ``a/__init__.py``, ``a/b.py`` …, as far as there is any."""
    for count in range(len(parts) + 1):
        place = base.joinpath(*parts[:count])
        candidates = (place / "__init__.py", place.with_name(f"{place.name}.py")) if count else ()
        yield from (one for one in candidates if one.is_file() and not one.is_symlink())


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
