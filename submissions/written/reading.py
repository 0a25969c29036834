"""Parent side: the reports of a submission, each read in a locked process of its own.

The libraries that take files apart are no match for everything that somebody may write into one: so they run
where the code runs, with what it may do, and what comes back is text and nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

import torch

from ..errors import NotLoaded, OutOfMemory, StudentCodeFailed, SubmissionError, TimedOut
from ..host.process import Zygote
from ..host.session import Session
from ..limits import Limits
from ..reading.documents import DOCUMENT_BYTES, MOST, READERS, documents
from .passages import Passage, ReadDocument

LIMITS = Limits(request_seconds=30, submission_seconds=30, cpu_seconds=30, memory_bytes=1 << 30)
_HANDLERS = f"{__package__}.handlers:HANDLERS"


@dataclass(frozen=True)
class WrittenReport:
    """A report, or why it could not be read."""

    name: str
    passages: tuple[Passage, ...] = ()
    problem: str | None = None
    lacking: bool = False  # is the problem one of the grader, who has not the package that reads it?


def read_documents(path: Path, zygote: Zygote) -> list[WrittenReport]:
    """Read every report of the submission at ``path``; a fault of one is its ``problem``.

    Raises RuntimeError where no process can be had.
    """
    handed = list(documents(path).items())
    beyond = f"not read: of each submission, the first {MOST} documents are"
    return [
        *(_read(name, content, zygote) for name, content in handed[:MOST]),
        *(WrittenReport(name, problem=beyond) for name, _ in handed[MOST:]),
    ]


def _read(name: str, content: bytes, zygote: Zygote) -> WrittenReport:
    reader = READERS[suffix := PurePosixPath(name).suffix.lower()]
    if len(content) > DOCUMENT_BYTES:
        return WrittenReport(name, problem=f"it is larger than {DOCUMENT_BYTES // 2**20} MB")
    if find_spec(reader.package) is None:
        missing = f"the grader lacks the package {reader.distribution}: pip install 'vitcheck[reports]'"
        return WrittenReport(name, problem=missing, lacking=True)
    try:
        with zygote.child(LIMITS, handlers=_HANDLERS) as child:
            given = torch.frombuffer(bytearray(content or b"\n"), dtype=torch.uint8)
            return WrittenReport(name, Session(child).ask(ReadDocument(suffix=suffix, content=given)))
    except StudentCodeFailed as failure:
        return WrittenReport(name, problem=f"it is damaged ({failure})")
    except SubmissionError as error:
        return WrittenReport(name, problem=_why(error))


def _why(error: SubmissionError) -> str:
    if isinstance(error, TimedOut):
        return f"to read it took more than {LIMITS.request_seconds:g} s"
    if isinstance(error, OutOfMemory):
        return f"to read it took more than {LIMITS.memory_bytes / 2**30:g} GB of memory"
    return (
        error.reason if isinstance(error, NotLoaded) else "the program that reads it was brought down by it"
    )
