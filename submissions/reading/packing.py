"""What was handed in, as bytes: to be told from other versions of it, and to be graded on another machine."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import SubmissionError
from .documents import documents_beside
from .files import beginning, walk
from .imported import imported
from .source import take
from .submission_names import CODE_FILES, text_of, text_of_path


@dataclass(frozen=True)
class HandIn:
    """A file, or a folder with relative path (with forward slashes) to content.

    Of a file, the only path is its own name. Where nothing can be read, ``problem`` says why; a RuntimeError
    there is a fault of the grader. ``left`` says, a sentence each, what was not taken.
    """

    name: str
    is_folder: bool
    files: Mapping[str, bytes]
    problem: SubmissionError | RuntimeError | None = None
    left: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits: the same for the same names and bytes, whenever and wherever they lie."""
        hashed = hashlib.sha256()
        told = (self.name, str(self.problem or ""), *self.left)
        parts = [one.encode("utf-8", "surrogatepass") for one in told]
        for path in sorted(self.files):
            parts += [path.encode(), self.files[path]]
        for part in parts:
            hashed.update(len(part).to_bytes(8, "big") + part)
        return hashed.hexdigest()

    def called(self, name: str) -> HandIn:
        """The same under another name, also where it is said why something was not read."""
        suffix = "" if self.is_folder else "".join(Path(self.name).suffixes[-2:])
        suffix = suffix if suffix.lower() in CODE_FILES else Path(self.name).suffix
        new = name if self.is_folder else f"{name}{suffix}"
        files = self.files if self.is_folder else dict(zip([new], self.files.values(), strict=False))
        problem = self.problem
        if isinstance(problem, SubmissionError):
            problem = type(problem)(problem.reason.replace(self.name, new))
        left = tuple(one.replace(self.name, new) for one in self.left)
        return HandIn(new, self.is_folder, files, problem, left)

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


def pack(path: Path) -> HandIn:
    """Take what ``read_source`` and ``documents`` would read; what they refuse is the ``problem``.

    With a file comes what it imports of its author's own, as a folder.
    """
    path = path.resolve()
    whole = imported(path) if path.suffix == ".py" else None
    if whole is None:
        return _pack(path)
    return _packed(whole.root, {**documents_beside(path), **whole.files})


def pack_of_class(path: Path) -> HandIn:
    """The same for one of many, where a link is not followed.

    Where the grader itself fails, that is the ``problem``: the others are graded.
    """
    try:
        return _pack(Path(os.path.abspath(path)))
    except Exception as error:
        traceback.print_exc()
        return HandIn(text_of(path.name), False, {}, RuntimeError(f"it could not be packed: {error!r}"))


def pack_folder(folder: Path) -> HandIn:
    """Take every plain file below ``folder`` whatever its kind, hidden ones left out. Raises NotLoaded."""
    folder = folder.resolve()
    return _packed(folder, {name: beginning(folder / name, sys.maxsize) for name in walk(folder).sizes})


def _pack(path: Path) -> HandIn:
    try:
        taken = take(path)
        return _packed(path, {**documents_beside(path), **taken.files}, taken.left)
    except SubmissionError as error:
        return HandIn(text_of(path.name), path.is_dir(), {}, error)


def _packed(path: Path, files: Mapping[str, bytes], left: tuple[str, ...] = ()) -> HandIn:
    content = {text_of_path(name): found for name, found in files.items()}
    return HandIn(text_of(path.name), path.is_dir(), content, left=left)
