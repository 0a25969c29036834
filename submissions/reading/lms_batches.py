"""A class as Canvas or Moodle gives it out: a folder or an archive of files that are named after students."""

from __future__ import annotations

import errno
import re
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO, FileIO
from pathlib import Path
from typing import IO

from ..errors import SubmissionError
from . import archives
from .choosing import is_too_large
from .files import is_skipped, size_of, walk
from .submission_names import CODE_FILES

# smithann_LATE_1234_5678_vit-1.py, anon_x7Ab2_5678_vit.py, smithann_1234_text.html
# What stands first is Canvas's, and all behind it the student's: the name of a file may hold other numbers.
# Out of names Canvas takes those between underscores.
_CANVAS = re.compile(
    r"(?P<name>(?!LATE_|anon_(?!LATE_)[A-Za-z0-9]+_\d+_)\w+?_)?(?:LATE_)?"
    r"(?P<user>\d+|anon_(?!LATE_)[A-Za-z0-9]+)_"
    r"(?:(?P<attachment>\d+)_(?P<file>.+)|(?P<page>(?:text|link)\.html))"
)
# put into names that were handed in before; a student may call files so, too
_AGAIN = re.compile(r"-\d+(?=\.(?:py|ipynb|zip|tar|tar\.gz|tgz)$)")

# Ann Smith_1234567_assignsubmission_file_/vit.py, or with the file behind it in one name
# The first number before that word is Moodle's, which puts blanks for the underscores of a name. All behind
# it is the student's, who may write another one there.
_MOODLE = re.compile(r"(?P<student>[^/]+?_\d+)_assignsubmission_[a-z]+(?:_(?P<file>[^/]+)|_?/(?P<below>.+))")

_NAMES = {errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG}  # what the name of a file may do

_MOST_FILES = 5_000_000  # of a class


class BatchError(ValueError):
    """A download that cannot be read; the message says which file of it."""


@dataclass(frozen=True)
class _Member:
    """A file of a batch: where it lies there, and how it is read."""

    path: str
    size: int
    opened: Callable[[], IO[bytes]]


@dataclass(frozen=True)
class _StudentFile:
    """A file of a student; of two that have the same path, the one with the larger number is newer."""

    student: str
    path: str
    number: int
    member: _Member

    @property
    def plain(self) -> str:
        """The path without the number that Canvas puts into names that were there before."""
        return _AGAIN.sub("", self.path) if self.number else self.path


@contextmanager
def laid_out(path: Path, besides: Path, tell: Callable[[str], object]) -> Iterator[Path]:
    """Yield a folder with a folder for each student if ``path`` is such a batch, else ``path`` itself.

    The folders are called as the system tells students apart: name, "_" and number; one without a file is
    there, too. Other files of a batch stand beside them, those that are no code in a folder of their name,
    but for what lies below ``besides`` and what would come into the folder of a student. What was decided
    between several files is told. Raises BatchError and OSError.
    """
    with _members(path, besides.resolve()) as (members, empty):
        handed = [one for one in map(_handed, members) if one]
        empty_of = {name: _handed(_Member(f"{name}/-", 0, BytesIO)) for name in empty}
        students = {one.student for one in (*handed, *empty_of.values()) if one}
        named = len(handed) + sum(one is not None for one in empty_of.values())
        if named * 2 <= len({one.path.partition("/")[0] for one in members} | empty):
            yield path
            return
        with tempfile.TemporaryDirectory(prefix="vitcheck-batch-", ignore_cleanup_errors=True) as folder:
            for name in (*students, *(name for name, one in empty_of.items() if one is None)):
                Path(folder, name).mkdir(exist_ok=True)
            for one in _newest(handed, tell):
                _put(one.member, Path(folder, one.student, one.path), tell)
            theirs = {one.member.path for one in handed}
            for other in (one for one in members if one.path not in theirs):
                _put_beside(other, Path(folder), students, tell)
            yield Path(folder)


def _put_beside(
    member: _Member, folder: Path, students: Container[str], tell: Callable[[str], object]
) -> None:
    """Put what is called as no student's: it is somebody's."""
    top = member.path.partition("/")[0]
    if top in students:
        tell(f"{member.path}: left out, since it is not called as what its student handed in")
    elif top == member.path and not top.lower().endswith(CODE_FILES):
        _put(member, folder / top / top, tell)
    else:
        _put(member, folder / member.path, tell)


@contextmanager
def _members(path: Path, besides: Path) -> Iterator[tuple[list[_Member], set[str]]]:
    """The files of a folder or a zip, and its folders without any; of anything else, none."""
    if path.is_dir():
        inside = _below(besides, path.resolve())
        members = [
            _Member(name, size, partial(FileIO, path / name))
            for name, size in _sizes(path).items()
            if not name.startswith(inside)
        ]
        folders = {one.name for one in path.iterdir() if one.is_dir() and not one.is_symlink()}
        yield members, _empty(folders - {inside.rstrip("/")}, members)
    elif archive := _opened(path):
        with archive:
            members, folders = _zipped(archive)
            yield members, _empty(folders, members)
    else:
        yield [], set()


def _empty(folders: set[str], members: list[_Member]) -> set[str]:
    filled = {one.path.partition("/")[0] for one in members}
    return {name for name in folders - filled if not is_skipped(name)}


def _sizes(folder: Path) -> dict[str, int]:
    try:
        return walk(folder, _MOST_FILES).sizes
    except SubmissionError as error:
        raise BatchError(error.reason) from error


def _below(folder: Path, root: Path) -> str:
    """What the paths begin with of files that lie in ``folder``, seen from ``root``."""
    return f"{folder.relative_to(root).as_posix()}/" if folder.is_relative_to(root) else "/"


def _opened(path: Path) -> zipfile.ZipFile | None:
    try:
        size_of(path)
        return zipfile.ZipFile(path)
    except Exception:  # of whatever damage; which is told when it is read as a submission
        return None


def _zipped(archive: zipfile.ZipFile) -> tuple[list[_Member], set[str]]:
    """Its files, and the names of folders at its top."""
    try:
        named = [(archives.safe(archives.name_of(one)), one) for one in archive.infolist()]
    except SubmissionError:  # as above
        return [], set()
    members = [
        _Member(name, one.file_size, partial(archive.open, one))
        for name, one in named
        if not one.is_dir() and not any(map(is_skipped, name.split("/")))
    ]
    return members, {name.partition("/")[0] for name, one in named if one.is_dir() or "/" in name} - {""}


def _handed(member: _Member) -> _StudentFile | None:
    if moodle := _MOODLE.fullmatch(member.path):
        return _StudentFile(moodle["student"], moodle["below"] or moodle["file"], 0, member)
    canvas = _CANVAS.fullmatch(member.path)
    if canvas is None or "/" in member.path or not (canvas["name"] or canvas["user"].startswith("anon")):
        return None
    student = f"{canvas['name'] or ''}{canvas['user']}"
    return _StudentFile(student, canvas["page"] or canvas["file"], int(canvas["attachment"] or 0), member)


def _newest(handed: list[_StudentFile], tell: Callable[[str], object]) -> list[_StudentFile]:
    """One for each path of each student. A number in a name is of another version, if it stands alone."""
    whole = {(one.student, one.path) for one in handed}
    plain = Counter((one.student, one.plain) for one in handed if one.plain != one.path)
    handed = [
        replace(one, path=one.plain)
        if plain[one.student, one.plain] == 1 or (one.student, one.plain) in whole
        else one
        for one in handed
    ]
    newest: dict[tuple[str, str], _StudentFile] = {}
    for file in sorted(handed, key=lambda one: one.number):
        before = newest.get((file.student, file.path))
        if before is not None:
            tell(f"{file.student}: {file.member.path} is newer than {before.member.path}, and taken")
        newest[file.student, file.path] = file
    return list(newest.values())


def _put(member: _Member, place: Path, tell: Callable[[str], object]) -> None:
    """Write it, unless its name keeps it from lying beside the others."""
    try:
        _write(member, place)
    except OSError as error:
        if error.errno not in _NAMES:
            raise
        tell(f"{member.path}: left out, since a file cannot be called so here: {error.strerror}")


def _write(member: _Member, place: Path) -> None:
    """Copy it; in the place of what is too large is a file of that size without content."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as file:
        if is_too_large(member.path, member.size):
            file.truncate(min(member.size, archives.TOTAL_BYTES + 1))
            return
        try:
            with member.opened() as content:
                shutil.copyfileobj(content, file)
        except Exception as error:  # of whatever damage, or for want of a password
            raise BatchError(
                f"{member.path} in the batch cannot be read: {error}. Download it again"
            ) from error
