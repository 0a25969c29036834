"""Archives unpacked in memory: nothing is written to disk, and nothing is read beyond stated limits."""

from __future__ import annotations

import gzip
import io
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import NotLoaded, Refused, SubmissionError
from .unseen import plain

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz")
MEMBERS = 20_000  # a forgotten virtual environment has about as many
TOTAL_BYTES = 256 * 2**20  # unpacked, of everything read
RATIO = 200  # unpacked to packed; code and notebooks stay under 50
RATIO_FROM_BYTES = 2**20  # small members may be as repetitive as they like

_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may ask for gigabytes of memory
_GZIP = b"\x1f\x8b"
_ZIP_MEMBER = b"PK\x01\x02"  # before each member in the list of them
_UTF8 = 0x800  # of a zip's member: its name is so
_MENTIONS = 4  # archives in an archive have members of their own

Wanted = Callable[[str, int], bool]


def unpack(path: Path, wanted: Wanted) -> dict[str, bytes]:
    """Map path to content, of the members for which ``wanted(path, bytes)`` says yes.

    Raises Refused for a path that leads out of the archive, a wanted member that is no regular file, and
    sizes beyond the limits; NotLoaded where the archive is encrypted or cannot be read.
    """
    read = _unzip if path.name.lower().endswith(".zip") else _untar
    try:
        return dict(read(path, wanted))
    except SubmissionError:
        raise
    except Exception as error:  # of a damaged archive, anything may be anything
        raise NotLoaded(f"the archive {plain(path.name)} is broken: {error}") from error


def _unzip(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    # each of which takes memory before it is counted
    if path.read_bytes().count(_ZIP_MEMBER) > _MENTIONS * MEMBERS:
        raise _too_many(path)
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > MEMBERS:
            raise _too_many(path)
        total = 0
        for member in members:
            name = safe(name_of(member))
            if member.is_dir() or not wanted(name, member.file_size):
                continue
            total += member.file_size
            _check_zip_member(path, member, total)
            with archive.open(member) as stream:
                yield name, stream.read(member.file_size + 1)


def _check_zip_member(path: Path, member: zipfile.ZipInfo, total: int) -> None:
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):  # 0: made on a system without modes
        raise Refused(f"{member.filename!r} in the archive {path.name} is a link or device")
    if member.flag_bits & 1:
        raise NotLoaded(f"the archive {path.name} is encrypted; hand it in without a password")
    if member.compress_type not in _ZIP_METHODS:
        raise NotLoaded(f"the archive {path.name} has an unusual compression; make a plain zip")
    if member.file_size > max(RATIO_FROM_BYTES, RATIO * member.compress_size) or total > TOTAL_BYTES:
        raise _too_large(path)


def _untar(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
    with gzip.open(path) if is_gzip else path.open("rb") as stream:
        bounded = _Bounded(stream, path)
        with tarfile.open(fileobj=bounded, mode="r|") as archive:
            for count, member in enumerate(archive):
                if count >= MEMBERS:
                    raise _too_many(path)
                name = safe(member.name)
                if member.isdir() or not wanted(name, member.size):
                    continue
                content = archive.extractfile(member) if member.isreg() else None
                if content is None:
                    raise Refused(f"{member.name!r} in the archive {path.name} is a link or device")
                yield name, content.read()


class _Bounded(io.BufferedIOBase):
    """A stream that refuses to give more bytes than its file may unpack to."""

    def __init__(self, stream: io.BufferedIOBase, path: Path) -> None:
        self._stream = stream
        self._path = path
        self._left = min(TOTAL_BYTES, max(RATIO_FROM_BYTES, RATIO * path.stat().st_size))

    def read(self, size: int | None = -1, /) -> bytes:
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise _too_large(self._path)
        return content


def _too_many(path: Path) -> Refused:
    return Refused(f"the archive {plain(path.name)} has more than {MEMBERS:,} members")


def _too_large(path: Path) -> Refused:
    return Refused(
        f"the archive {path.name} unpacks to more than {TOTAL_BYTES // 2**20} MB, "
        f"or to more than {RATIO} times its size; hand in the code alone"
    )


def name_of(member: zipfile.ZipInfo) -> str:
    """Return what a member is called: UTF-8 also where the archive does not say so, as macOS's do not."""
    if member.flag_bits & _UTF8:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


def safe(name: str) -> str:
    """Return ``name`` with forward slashes. Raises Refused where it leads out of the archive."""
    path = name.replace("\\", "/")
    if path.startswith("/") or re.match("[A-Za-z]:", path) or ".." in path.split("/"):
        raise Refused(f"the archive holds {name!r}, a path outside of it; pack the folder again")
    return "/".join(part for part in path.split("/") if part not in ("", "."))
