"""What was handed in, as text: finding submissions and reading one. Nothing here executes student code."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from . import archives, notebooks
from .code import module_file
from .errors import NotLoaded, Refused

CODE_BYTES = 2 * 2**20  # of one file of code
NOTEBOOK_BYTES = 64 * 2**20  # with the images in its outputs
DATA_BYTES = 4 * 2**20  # of one other file that the code may open
FOLDER_BYTES = archives.TOTAL_BYTES

_DATA = {".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".txt", ".csv", ".jpg", ".jpeg", ".png", ".npy"}
_LIMITS = {".py": CODE_BYTES, ".ipynb": NOTEBOOK_BYTES} | dict.fromkeys(_DATA, DATA_BYTES)
_SKIPPED = {"__pycache__", "__MACOSX", "venv", "env", "node_modules", "site-packages"}
_DATABASE = (f"gradebook.sqlite{one}" for one in ("", "-wal", "-shm", "-journal"))
_OURS = {"index.html", "grades.csv", "grades.json", *_DATABASE}
_FILES = (".py", ".ipynb", *archives.SUFFIXES)


@dataclass(frozen=True)
class Source:
    """A submission: the name of its file or folder, and relative path with forward slashes to content.

    ``.py`` files stand as they are, each notebook as its code cells (``"vit.ipynb[3]"``), and beside them the
    small data files that the code may open.
    """

    name: str
    files: Mapping[str, bytes]


def find_submissions(paths: Iterable[Path]) -> list[Path]:
    """List the submissions at ``paths``: a file is one; in a folder each that may be one.

    Raises FileNotFoundError for a path that does not exist.
    """
    found: dict[Path, None] = {}  # a set that keeps the order
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file or folder")
        inside = sorted(filter(_may_be_submission, path.iterdir())) if path.is_dir() else [path]
        found.update(dict.fromkeys(inside))
    return list(found)


def _may_be_submission(path: Path) -> bool:
    if path.name.startswith(".") or path.name in _SKIPPED:
        return False
    return path.is_dir() or path.name.lower().endswith(_FILES)


def text_of(name: str) -> str:
    r"""Return the name of a file as text: bytes that are none, of an old archive, are written as ``\xe9``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def submission_name(path: Path) -> str:
    """Return ``alice`` for a folder ``alice``, for ``alice.py`` and for ``alice.tar.gz``."""
    if path.is_dir():
        return text_of(path.resolve().name)
    for suffix in sorted(_FILES, key=len, reverse=True):
        if path.name.lower().endswith(suffix) and len(path.name) > len(suffix):
            return text_of(path.name[: -len(suffix)])
    return text_of(path.name)


def submission_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each of ``paths``, no two alike even where case does not count.

    It is the plain name where that is free, else the one with suffix, else the one with a number. The names
    of what stands beside the submissions' folders are never free.
    """
    plain = [submission_name(path) for path in paths]
    counts = Counter([*(name.lower() for name in plain), *_OURS])
    taken: set[str] = {name for name, count in counts.items() if count == 1} | _OURS
    names = []
    for path, name in zip(paths, plain, strict=True):
        if counts[name.lower()] > 1:
            name = _free(text_of(path.name), taken)
        names.append(name)
    return names


def _free(name: str, taken: set[str]) -> str:
    """Take ``name``, with the first number that makes it new if it is taken."""
    candidate, number = name, 1
    while candidate.lower() in taken:
        number += 1
        candidate = f"{name}-{number}"
    taken.add(candidate.lower())
    return candidate


def read_source(path: Path) -> Source:
    """Read a ``.py`` file, a notebook, a folder or an archive.

    Where all files lie in one inner folder that is no package, paths are relative to that folder. A folder
    whose only code is one archive is read as that archive. Raises NotLoaded where there is no Python to be
    had and Refused where a limit is broken.
    """
    try:
        files = _convert(_strip(_read(path)))
    except OSError as error:
        raise NotLoaded(f"{path.name} cannot be read: {error.strerror or error}") from error
    code = [content for file, content in files.items() if module_file(file)]
    if not code:
        raise NotLoaded(f"{path.name} holds no Python file (.py) and no notebook (.ipynb) with code")
    if not any(content.strip() for content in code):
        raise NotLoaded(f"{path.name} is empty")
    return Source(text_of(path.name), files)


def code_folder(path: Path) -> Path:
    """Return the folder that the files of ``read_source(path)`` lie in. Raises what ``chosen`` raises."""
    if not path.is_dir():
        return path.parent
    return path / _outer([file.relative_to(path).as_posix() for file in chosen(path)])


def _read(path: Path) -> dict[str, bytes]:
    files = chosen(path)
    if len(files) == 1 and is_archive(files[0]):
        return archives.unpack(files[0], _wanted)
    if path.is_dir():
        return {file.relative_to(path).as_posix(): file.read_bytes() for file in files}
    return {path.stem + path.suffix.lower(): path.read_bytes()}


def chosen(path: Path) -> list[Path]:
    """List the files at ``path`` that are read: the file itself, or those in a folder that matter.

    Raises NotLoaded for a file of another kind and Refused where a limit on sizes is broken.
    """
    files = _chosen_in(path) if path.is_dir() else [path]
    if sum(map(_size, files)) > FOLDER_BYTES:
        raise Refused(f"{path.name} holds more than {FOLDER_BYTES // 2**20} MB; hand in the code alone")
    return files


def _chosen_in(folder: Path) -> list[Path]:
    files = list(regular_files(folder))
    wanted = [file for file in files if _wanted(file.relative_to(folder).as_posix(), file.stat().st_size)]
    packed = [file for file in files if is_archive(file)]
    has_code = any(file.name.endswith((".py", ".ipynb")) for file in wanted)
    return packed if len(packed) == 1 and not has_code else wanted


def _size(file: Path) -> int:
    """Return the bytes of a file that may be read. Raises NotLoaded or Refused for another."""
    suffix, size = file.suffix.lower(), file.stat().st_size
    if not is_archive(file) and suffix not in _LIMITS:
        raise NotLoaded(
            f"{file.name} is neither Python (.py), a notebook (.ipynb), a folder, nor an archive "
            f"({', '.join(archives.SUFFIXES)})"
        )
    if size > (limit := _LIMITS.get(suffix, FOLDER_BYTES)):
        raise Refused(f"{file.name} is larger than {limit // 2**20} MB")
    return size


def is_archive(file: Path) -> bool:
    """Tell by its name whether a file is an archive."""
    return file.name.lower().endswith(archives.SUFFIXES)


def regular_files(folder: Path) -> Iterator[Path]:
    """Yield each file below ``folder`` in a fixed order; no link is followed, since it may lead anywhere."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_skipped(name))
        for name in sorted(names):
            file = Path(root, name)
            if stat.S_ISREG(file.lstat().st_mode):
                yield file


def is_skipped(part: str) -> bool:
    """Say whether files and folders of this name are hidden, or no work of a student."""
    return part.startswith(".") or part in _SKIPPED


def is_too_large(name: str, size: int) -> bool:
    """Say whether no submission may have a file of this name and size in bytes."""
    return size > (FOLDER_BYTES if name.lower().endswith(archives.SUFFIXES) else NOTEBOOK_BYTES)


def _wanted(name: str, size: int) -> bool:
    path = PurePosixPath(name)
    return size <= _LIMITS.get(path.suffix.lower(), -1) and not any(map(is_skipped, path.parts))


def _strip(files: dict[str, bytes]) -> dict[str, bytes]:
    outer = _outer(files)
    return {name[len(outer) :]: content for name, content in files.items()}


def _outer(names: Collection[str]) -> str:
    """Return the path, to its last slash, of the outer folders that hold everything; a package is kept."""
    outer = ""
    while True:
        tops = {name[len(outer) :].partition("/")[0] for name in names}
        if len(tops) != 1 or not all("/" in name[len(outer) :] for name in names):
            return outer
        inner = f"{outer}{tops.pop()}/"
        if f"{inner}__init__.py" in names:
            return outer
        outer = inner


def _convert(files: dict[str, bytes]) -> dict[str, bytes]:
    """Put cells for notebooks; a damaged notebook counts only if there is nothing else to grade."""
    converted: dict[str, bytes] = {}
    damaged: NotLoaded | None = None
    for name, content in files.items():
        if not name.endswith(".ipynb"):
            converted[name] = content
            continue
        try:
            converted |= notebooks.cells(name, content)
        except NotLoaded as error:
            damaged = error
    if damaged and not any(map(module_file, converted)):
        raise damaged
    return converted
