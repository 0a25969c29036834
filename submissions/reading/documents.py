"""Which files of a submission are its report. Nothing is read here but their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from ..errors import NotLoaded, SubmissionError
from . import archives
from .files import beginning, is_skipped, walk
from .source import archive_at

DOCUMENT_BYTES = 32 * 2**20  # of one file; 26 screenshots have about 10 MB
MOST = 8  # of one submission


@dataclass(frozen=True)
class DocumentReader:
    """The module here that reads a kind of file, and the package that it needs."""

    module: str
    package: str  # as it is imported
    distribution: str  # as it is installed


_MARKDOWN = DocumentReader("markdown", "markdown_it", "markdown-it-py")
READERS: Mapping[str, DocumentReader] = MappingProxyType(
    {
        ".md": _MARKDOWN,
        ".markdown": _MARKDOWN,
        ".tex": DocumentReader("latex", "pylatexenc", "pylatexenc"),
        ".pdf": DocumentReader("pdf", "pypdf", "pypdf"),
        ".docx": DocumentReader("word", "docx", "python-docx"),
        ".ipynb": DocumentReader("notebook", "nbformat", "nbformat"),
    }
)


def documents_beside(path: Path) -> dict[str, bytes]:
    """Read the files at ``path`` that may be its report, by path below it; one more if there are too many.

    What lies outside of folders comes first. Of one that is too large there is just so much that it can be
    told.
    """
    root, names = (path, walk(path).sizes) if path.is_dir() else (path.parent, [path.name])
    found = sorted((one for one in names if _is_document(PurePosixPath(one))), key=_depth)
    read: dict[str, bytes] = {}
    for name in found[: MOST + 1]:
        with suppress(NotLoaded):  # a pipe, or a file without rights
            read[name] = beginning(root / name, DOCUMENT_BYTES + 1)
    return read


def documents(path: Path) -> dict[str, bytes]:
    """Map the name of each document of a submission, a file, a folder or an archive, to its bytes."""
    with suppress(SubmissionError):  # which the code is told, too
        found = documents_beside(path)
        if archive := archive_at(path):
            found |= archives.unpack(archive, _is_wanted)
        return dict(list(found.items())[: MOST + 1])
    return {}


def _depth(name: str) -> tuple[int, str]:
    return name.count("/"), name


def _is_wanted(name: str, size: int) -> bool:
    path = PurePosixPath(name)
    return size <= DOCUMENT_BYTES and _is_document(path) and not any(map(is_skipped, path.parts))


def _is_document(path: PurePosixPath) -> bool:
    return path.suffix.lower() in READERS and not path.name.startswith((".", "~$"))
