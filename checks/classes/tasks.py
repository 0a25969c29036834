"""One submission as a task that any process can do, on this machine or another. Imports no torch."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...submissions.errors import SubmissionError
from ...submissions.reading.code import demand_python
from ...submissions.reading.packing import HandIn, pack, pack_folder
from ...submissions.reading.source import read_source
from ...submissions.reading.submission_names import submission_name
from ...submissions.reading.unseen import plain
from ...submissions.sandbox.isolation import Isolation, open_sandbox
from ..architecture.family import version_of
from ..assignment.assignment import Assignment
from ..assignment.commands import again, again_by_author
from ..grading.grader import grader
from ..grading.not_graded import GRADING, Notes, not_graded, versions
from ..record.repeating import repeated_by
from ..record.result import GRADER_FAILED, MACHINE_BUSY, Result, Run, Score, Status

if TYPE_CHECKING:
    from ...submissions.host.process import Zygote
    from ..examining.passes.pictures import Picture


@dataclass(frozen=True)
class Setting:
    """What processes of submissions are made with: tasks that agree on it share a warm zygote."""

    isolation: Isolation = Isolation.AUTO
    warm: tuple[str, ...] = ()  # packages that submissions import beside torch

    def zygote(self) -> Zygote:
        """Start the process that is forked for each submission; its owner stops it.

        Raises IsolationError where this machine has not what the setting requires.
        """
        from ...submissions.host.process import Zygote  # which what is no Python needs not

        zygote = Zygote(self.warm, open_sandbox(self.isolation))
        zygote.start()
        return zygote


@dataclass(frozen=True)
class Task:
    """One submission, and all that is needed to grade it."""

    handed: HandIn
    name: str  # of the submission in the class
    assignment: Assignment
    seed: int
    checks: HandIn | None = None  # a folder with further checks
    setting: Setting = Setting()
    picture: Picture | None = None  # what the record shows of the stages is of a pass on it
    command: str = ""  # repeats it where it was asked for
    is_own: bool = False  # does its author ask?

    @property
    def key(self) -> str:
        """The same for the same work: name, content, assignment, checks, seed and version."""
        asked = [self.name, self.handed.digest, self.assignment.model_dump_json(), str(self.seed)]
        asked += [self.checks.digest if self.checks else "", repr(self.setting)]
        asked.append(version_of(self.assignment.architecture))
        return hashlib.sha256("\0".join(asked).encode("utf-8", "surrogatepass")).hexdigest()

    def grade(self, zygote: Zygote, checks: Path | None = None) -> Result:
        """Grade it in this process, where ``checks`` lie unpacked.

        Raises RuntimeError where the grader itself fails, PictureError where the model reads no such picture.
        """
        with ExitStack() as unpacked:
            try:
                path = unpacked.enter_context(self.handed.unpacked())
            except SubmissionError as error:
                return self._ended(error.status, plain(error.reason))
            result = grader()(
                path,
                self.assignment,
                zygote=zygote,
                seed=self.seed,
                name=self.name,
                checks=checks,
                picture=self.picture,
                left=self.handed.left,
            )
        own = again_by_author(self.handed.files, self.handed.name, self.assignment, self.seed)
        return repeated_by(result, self.command or own, self.command if self.is_own else own)

    def unreadable(self) -> Result | None:
        """The record of what holds no Python, for which no process is started; None where it can be graded.

        Nor is it told here where written answers are asked for, which count anyway.
        """
        if self.assignment.written is not None:
            return None
        source = None
        try:
            with self.handed.unpacked() as path:
                source = read_source(path, self.handed.left)
            demand_python(source.files)
        except SubmissionError as error:
            run = Run(seed=self.seed, seconds=0, versions=versions(*GRADING))
            return not_graded(self.name, self.assignment, error, source, Notes(), run)
        return None

    def lost(self) -> Result:
        """Return the record of a submission on which the grader failed."""
        return self._ended(Status.CRASHED, GRADER_FAILED)

    def unfinished(self) -> Result:
        """Return the record of a submission that a busy machine did not finish."""
        return self._ended(Status.TIMED_OUT, MACHINE_BUSY)

    def took_too_long(self) -> Result:
        """Return the record of a submission that the grader gave up for time."""
        most = f"{self.assignment.limits.judge_seconds:g} s"
        return self._ended(Status.TIMED_OUT, f"it took too long to judge: {_judged(most)}")

    def took_too_much_memory(self) -> Result:
        """Return the record of a submission that the grader gave up for memory."""
        most = f"{self.assignment.limits.judge_bytes / 2**30:g} GB"
        return self._ended(Status.OUT_OF_MEMORY, f"it took too much memory to judge: {_judged(most)}")

    def _ended(self, status: str, reason: str) -> Result:
        return Result(
            schema=1,
            submission=self.name,
            assignment=self.assignment.name,
            asked=self.assignment.asked,
            status=Status(status),
            reason=reason,
            score=Score(earned=0, possible=self.assignment.possible),
            run=Run(seed=self.seed, seconds=0),
        )


def own_work(
    path: Path,
    assignment: Assignment,
    seed: int = 0,
    *,
    checks: Path | None = None,
    isolation: Isolation = Isolation.NONE,
    picture: Picture | None = None,
) -> Task:
    """Return the task of grading what lies at ``path`` alone, whoever asks for it.

    Who checks their own work runs it anyway, so that it is not locked in where nothing is said.
    """
    own = pack_folder(checks) if checks else None
    command = again([str(path)], assignment, seed, checks)
    name, setting = submission_name(path), Setting(isolation)
    return Task(pack(path), name, assignment, seed, own, setting, picture, command, is_own=True)


def _judged(most: str) -> str:
    """What is allowed, and what to do."""
    return (
        f"the grader's own work on it may take {most}. Look for far too many operations, parameters, tensors"
        " or lines of text, and for a model that is much larger than was asked for"
    )
