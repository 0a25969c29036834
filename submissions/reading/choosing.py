"""Which files of a submission are read: the code first, then small data, as far as there is room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from .archives import SUFFIXES, TOTAL_BYTES
from .files import is_hidden_code, is_skipped

CODE_BYTES = 2 * 2**20  # of one file of code
NOTEBOOK_BYTES = 64 * 2**20  # with the images in its outputs
DATA_BYTES = 4 * 2**20  # of one other file that the code may open

_DATA = {".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".txt", ".csv", ".jpg", ".jpeg", ".png", ".npy"}
LIMITS = {".py": CODE_BYTES, ".ipynb": NOTEBOOK_BYTES} | dict.fromkeys(_DATA, DATA_BYTES)
_NAMED = 5  # of the files that are left out


@dataclass(frozen=True)
class _Room:
    """How many files of a kind are taken, and how many bytes of them together."""

    files: int
    size: int


# To parse it, code takes a second for each megabyte; of data, the scratch folder holds 64 MB, half of which
# is for what the code writes, and a file takes a page of 4 kB at least.
_ROOM = {".py": _Room(1000, 8 * 2**20), ".ipynb": _Room(50, TOTAL_BYTES), "": _Room(1500, 24 * 2**20)}


@dataclass(frozen=True)
class Choice:
    """The paths that are read, and sentences that say what is left out."""

    names: tuple[str, ...]
    left: tuple[str, ...] = ()


def choose(sizes: Mapping[str, int]) -> Choice:
    """Choose among files, given by path with forward slashes and size in bytes.

    Of code, what lies further up goes first, as a model does before the libraries beside it; of data, what
    is smaller.
    """
    left = [f"{name} is hidden by the dot in front" for name in sizes if _is_hidden_code(name)]
    fitting = [name for name in sizes if _is_known(name) and _fits(name, sizes[name], left)]
    code = sorted(filter(is_code, fitting), key=lambda one: (one.count("/"), sizes[one], one))
    data = sorted((one for one in fitting if not is_code(one)), key=lambda one: (sizes[one], one))
    taken = set(_within_room([*code, *data], sizes))
    if beyond := [one for one in (*code, *data) if one not in taken]:
        left.append(_beyond(beyond))
    return Choice(tuple(one for one in sizes if one in taken), tuple(left))


def is_code(name: str) -> bool:
    """Say whether a file is Python or a notebook, by its name."""
    return name.lower().endswith((".py", ".ipynb"))


def is_archive(name: str) -> bool:
    """Say whether a file is an archive, by its name."""
    return name.lower().endswith(SUFFIXES)


def is_too_large(name: str, size: int) -> bool:
    """Say whether no submission may have a file of this name and size in bytes."""
    return size > (TOTAL_BYTES if is_archive(name) else NOTEBOOK_BYTES)


def listed(names: Iterable[str]) -> str:
    """Some of ``names``, and how many there are beside them."""
    names = list(names)
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _is_hidden_code(name: str) -> bool:
    path = PurePosixPath(name)
    return is_hidden_code(path.name) and not any(map(is_skipped, path.parts[:-1]))


def _is_known(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix.lower() in LIMITS and not any(map(is_skipped, path.parts))


def _fits(name: str, size: int, left: list[str]) -> bool:
    limit = LIMITS[PurePosixPath(name).suffix.lower()]
    if size > limit:
        left.append(f"{name} is larger than {limit // 2**20} MB")
    return size <= limit


def _within_room(names: Iterable[str], sizes: Mapping[str, int]) -> Iterator[str]:
    files, room = dict.fromkeys(_ROOM, 0), {kind: one.size for kind, one in _ROOM.items()}
    for name in names:
        kind = PurePosixPath(name).suffix.lower()
        kind = kind if kind in _ROOM else ""
        if files[kind] < _ROOM[kind].files and sizes[name] <= room[kind]:
            files[kind] += 1
            room[kind] -= sizes[name]
            yield name


def _beyond(names: list[str]) -> str:
    data, code = _ROOM[""], _ROOM[".py"]
    return (
        f"{len(names):,} files are beyond the {data.files:,} files with {data.size // 2**20} MB of data, and"
        f" {code.files:,} with {code.size // 2**20} MB of code, that are read: {listed(names)}"
    )
