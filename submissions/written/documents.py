"""Which files of a submission are its report. Nothing is read here but their bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from .. import archives
from ..errors import SubmissionError
from ..source import chosen, is_archive, is_skipped, regular_files

DOCUMENT_BYTES = 32 * 2**20  # of one file; 26 screenshots have about 10 MB
MOST = 8  # of one submission


@dataclass(frozen=True)
class Reader:
    """The module here that reads a kind of file, and the package that it needs."""

    module: str
    package: str  # as it is imported
    distribution: str  # as it is installed


_MARKDOWN = Reader("markdown", "markdown_it", "markdown-it-py")
READERS: Mapping[str, Reader] = MappingProxyType(
    {
        ".md": _MARKDOWN,
        ".markdown": _MARKDOWN,
        ".tex": Reader("latex", "pylatexenc", "pylatexenc"),
        ".pdf": Reader("pdf", "pypdf", "pypdf"),
        ".docx": Reader("word", "docx", "python-docx"),
        ".ipynb": Reader("notebook", "nbformat", "nbformat"),
    }
)


def document_files(path: Path) -> list[Path]:
    """List the files at ``path`` that may be its report: the first of them, and one more if there are many.

    What lies outside of folders comes first.
    """
    files = regular_files(path) if path.is_dir() else iter([path])
    found = sorted(filter(_is_document, files), key=lambda one: (len(one.parts), one))
    return found[: MOST + 1]


def document_bytes(file: Path) -> bytes:
    """Read a document; of one that is too large just so much that it can be told."""
    with file.open("rb") as opened:
        return opened.read(DOCUMENT_BYTES + 1)


def documents(path: Path) -> dict[str, bytes]:
    """Map the name of each document of a submission, a file, a folder or an archive, to its bytes."""
    root = path if path.is_dir() else path.parent
    found = {one.relative_to(root).as_posix(): document_bytes(one) for one in document_files(path)}
    for archive in _archives(path):
        with suppress(SubmissionError):  # which the code is told, too
            found |= archives.unpack(archive, _is_wanted)
    return dict(list(found.items())[: MOST + 1])


def _archives(path: Path) -> Iterator[Path]:
    """The one that the code would be read from, if it is one."""
    with suppress(SubmissionError):
        yield from filter(is_archive, chosen(path))


def _is_wanted(name: str, size: int) -> bool:
    path = PurePosixPath(name)
    return size <= DOCUMENT_BYTES and _is_document(path) and not any(map(is_skipped, path.parts))


def _is_document(path: PurePosixPath | Path) -> bool:
    return path.suffix.lower() in READERS and not path.name.startswith((".", "~$"))
