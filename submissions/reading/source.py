"""What was handed in, as text: finding submissions and reading one. Nothing here executes student code."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..errors import NotLoaded, Refused, SubmissionError
from . import archives, notebooks
from .choosing import LIMITS, Choice, choose, is_archive, is_code
from .code import cell_number, module_file
from .files import is_hidden_code, is_skipped, walk
from .files import read as read_file
from .submission_names import CODE_FILES, submission_name, text_of
from .unseen import plain

_CELLS_BYTES = 16 * 2**20  # of code in notebooks: it goes to the process that runs it as one message of 64 MB
_REPORTS = (".pdf", ".docx", ".tex")  # which a student may hand in alone; Markdown often is for people
_OF_GRADES = ("gradebook.sqlite", "grades.csv", "index.html")
_HIDDEN = "hidden"  # of what needs no mention
_LEFT = 20  # sentences about what is not read


@dataclass(frozen=True)
class Source:
    """A submission: the name of its file or folder, and relative path with forward slashes to content.

    ``.py`` files stand as they are, each notebook as its code cells (``"vit.ipynb[3]"``), and beside them the
    small data files that the code may open. ``left`` says, a sentence each, what was not read.
    """

    name: str
    files: Mapping[str, bytes]
    left: tuple[str, ...] = ()


@dataclass(frozen=True)
class SubmissionFiles:
    """The files of a submission as they lie there, by path below its folder, and what was not read."""

    files: Mapping[str, bytes]
    left: tuple[str, ...] = ()


def find_submissions(paths: Iterable[Path]) -> list[Path]:
    """List the submissions at ``paths``: a file is one; in a folder each that may be one.

    Raises FileNotFoundError for a path that does not exist, and OSError for a folder that cannot be read.
    """
    found: dict[Path, None] = {}  # a set that keeps the order
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file or folder")
        inside = [one for one, why in _entries(path).items() if not why] if path.is_dir() else [path]
        found.update(dict.fromkeys(inside))
    return list(found)


def passed_over(paths: Iterable[Path]) -> dict[Path, str]:
    """Map what is no submission, in the folders among ``paths``, to the reason why."""
    entries = [_entries(path) for path in paths if path.is_dir()]
    return {one: why for inside in entries for one, why in inside.items() if why and why != _HIDDEN}


def _entries(folder: Path) -> dict[Path, str]:
    """What is in it, and why that is no submission; no reason for one."""
    inside = sorted(folder.iterdir())
    code = {submission_name(one) for one in inside if not _why_none(one) and not _is_report(one)}
    return {one: _why_none(one) or _beside(one, code) for one in inside}


def _why_none(path: Path) -> str:
    if is_hidden_code(path.name):
        return "it is hidden by the dot in front"
    if path.name.startswith("."):
        return _HIDDEN
    if is_skipped(path.name):
        return "no student's work is called so: if it is one, give it another name"
    if path.is_dir() or path.name.lower().endswith((*CODE_FILES, *_REPORTS)):
        return "it holds grades" if _holds_grades(path) else ""
    return "it is no folder, Python, notebook, archive or report: if it is work, put it into a folder"


def _beside(path: Path, code: Container[str]) -> str:
    lies_beside = _is_report(path) and text_of(path.stem) in code
    return f"it lies beside code that is called {path.stem}: put both into one folder" if lies_beside else ""


def _is_report(path: Path) -> bool:
    return path.name.lower().endswith(_REPORTS) and not path.is_dir()


def _holds_grades(path: Path) -> bool:
    return not path.is_symlink() and all((path / one).is_file() for one in _OF_GRADES)


def read_source(path: Path, left: tuple[str, ...] = ()) -> Source:
    """Read a ``.py`` file, a notebook, a folder or an archive, of which this was ``left`` out before.

    Where all files lie in one inner folder that is no package, paths are relative to that folder. A folder
    whose only code is one archive is read as that archive. Raises NotLoaded where there is no Python to be
    had and Refused where a limit is broken.
    """
    taken = take(path)
    if archive := archive_at(path):
        taken = _unpacked(archive, taken.left)
    left = (*left, *taken.left)
    files = _convert(_strip({_with_plain_suffix(name): one for name, one in taken.files.items()}))
    code = [content for file, content in files.items() if module_file(file)]
    if not code:
        why = f"; not read: {'; '.join(left)}" if left else ""
        raise NotLoaded(
            f"{plain(path.name)} holds no Python file (.py) and no notebook (.ipynb) with code{why}"
        )
    if not any(content.strip() for content in code):
        raise NotLoaded(f"{plain(path.name)} is empty")
    return Source(text_of(path.name), files, left)


def code_folder(path: Path) -> Path:
    """Return the folder that the files of ``read_source(path)`` lie in. Raises what ``take`` raises."""
    return path / _outer(take(path).files) if path.is_dir() else path.parent


def take(path: Path) -> SubmissionFiles:
    """Read the file at ``path``, or those in a folder that matter.

    Raises NotLoaded for what cannot be read, or is a file of another kind, and Refused for a link and for
    what is too large; in a folder, these are left out.
    """
    if path.is_symlink():
        raise Refused(
            f"{plain(path.name)} is a link, and what it leads to may be another's work: put the files"
            " themselves in its place"
        )
    if not path.is_dir():
        return SubmissionFiles({path.name: _read_known(path)})
    choice, files = _choice(path), dict[str, bytes]()
    left = list(choice.left)
    for name in choice.names:
        try:
            files[name] = _read_known(path / name)
        except SubmissionError as error:  # such as one without rights
            left.append(error.reason)
    return SubmissionFiles(files, _some(left))


def archive_at(path: Path) -> Path | None:
    """Return the archive that what is at ``path`` is read from, if it is one."""
    names = _choice(path).names if path.is_dir() else [path.name]
    found = next(filter(is_archive, names), None)
    return None if found is None else path / found if path.is_dir() else path


def _choice(folder: Path) -> Choice:
    found = walk(folder)
    choice = choose(found.sizes)
    packed = [one for one in found.sizes if is_archive(one)]
    names = packed if len(packed) == 1 and not any(map(is_code, choice.names)) else choice.names
    return Choice(tuple(names), (*choice.left, *found.left))


def _some(left: Sequence[str]) -> tuple[str, ...]:
    more = [f"and {len(left) - _LEFT:,} more"] if len(left) > _LEFT else []
    return tuple(map(plain, [*left[:_LEFT], *more]))


def _read_known(file: Path) -> bytes:
    limit = archives.TOTAL_BYTES if is_archive(file.name) else LIMITS.get(file.suffix.lower())
    if limit is None:
        raise NotLoaded(
            f"{plain(file.name)} is neither Python (.py), a notebook (.ipynb), a folder, nor an archive "
            f"({', '.join(archives.SUFFIXES)})"
        )
    return read_file(file, limit)


def _unpacked(archive: Path, left: tuple[str, ...]) -> SubmissionFiles:
    """What is taken of an archive is chosen as of a folder."""
    sizes: dict[str, int] = {}

    def note(name: str, size: int) -> bool:
        sizes[name] = size
        return False

    archives.unpack(archive, note)
    choice = choose(sizes)
    names = set(choice.names)
    files = archives.unpack(archive, lambda name, size: name in names)
    return SubmissionFiles(files, (*left, *_some(choice.left)))


def _with_plain_suffix(name: str) -> str:
    """``vit.PY`` is Python, too."""
    return str(PurePosixPath(name).with_suffix(PurePosixPath(name).suffix.lower())) if is_code(name) else name


def _strip(files: Mapping[str, bytes]) -> dict[str, bytes]:
    outer = _outer(files)
    return {name[len(outer) :]: content for name, content in files.items()}


def _outer(files: Mapping[str, bytes]) -> str:
    """Return the path, to its last slash, of the outer folders that hold everything; a package is kept."""
    outer = ""
    while True:
        tops = {name[len(outer) :].partition("/")[0] for name in files}
        if len(tops) != 1 or not all("/" in name[len(outer) :] for name in files):
            return outer
        top = tops.pop()
        if f"{outer}{top}/__init__.py" in files or _is_imported(top, files):
            return outer
        outer += f"{top}/"


def _is_imported(name: str, files: Mapping[str, bytes]) -> bool:
    """Is a folder a package by how it is used?"""
    statement = re.compile(rb"^\s*(from|import)\s+%s[\s.,]" % re.escape(name.encode()), re.MULTILINE)
    return any(is_code(path) and statement.search(content) for path, content in files.items())


def _convert(files: Mapping[str, bytes]) -> dict[str, bytes]:
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
    if sum(len(one) for name, one in converted.items() if cell_number(name)) > _CELLS_BYTES:
        raise Refused(f"the cells of its notebooks hold more than {_CELLS_BYTES // 2**20} MB of code")
    return converted
