"""What was handed in, as bytes: to be told from other versions of it, and to be graded on another machine."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .errors import NotLoaded, SubmissionError
from .source import chosen, regular_files, text_of
from .written.documents import document_bytes, document_files


@dataclass(frozen=True)
class Handed:
    """A file, or a folder with relative path (with forward slashes) to content.

    Of a file, the only path is its own name. Where nothing can be read, ``problem`` says why.
    """

    name: str
    is_folder: bool
    files: Mapping[str, bytes]
    problem: SubmissionError | None = None

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits: the same for the same names and bytes, whenever and wherever they lie."""
        hashed = hashlib.sha256()
        parts = [self.name.encode(), str(self.problem or "").encode("utf-8", "surrogatepass")]
        for path in sorted(self.files):
            parts += [path.encode(), self.files[path]]
        for part in parts:
            hashed.update(len(part).to_bytes(8, "big") + part)
        return hashed.hexdigest()

    @contextmanager
    def unpacked(self) -> Iterator[Path]:
        """Write it to a private folder, and remove that afterwards. Raises ``problem`` if there is one."""
        if self.problem is not None:
            raise self.problem
        with tempfile.TemporaryDirectory(prefix="vitcheck-", ignore_cleanup_errors=True) as folder:
            place = Path(folder, self.name)
            root = place if self.is_folder else place.parent
            root.mkdir(exist_ok=True)
            for path, content in self.files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(content)
            yield place


def pack(path: Path) -> Handed:
    """Take what ``read_source`` and ``documents`` would read; what they refuse is the ``problem``."""
    path = path.resolve()
    try:
        return _packed(path, chosen(path), document_files(path))
    except SubmissionError as error:
        problem = error
    except OSError as error:
        problem = NotLoaded(f"{path.name} cannot be read: {error.strerror or error}")
    return Handed(text_of(path.name), path.is_dir(), {}, problem)


def pack_folder(folder: Path) -> Handed:
    """Take every regular file below ``folder`` whatever its kind, hidden ones left out. Raises OSError."""
    folder = folder.resolve()
    return _packed(folder, list(regular_files(folder)))


def _packed(path: Path, files: Sequence[Path], documents: Sequence[Path] = ()) -> Handed:
    root = path if path.is_dir() else path.parent
    read = [(file, document_bytes(file)) for file in documents if file not in files]
    read += [(file, file.read_bytes()) for file in files]
    content = {text_of(file.relative_to(root).as_posix()): found for file, found in read}
    return Handed(text_of(path.name), path.is_dir(), content)
