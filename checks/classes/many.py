"""Grading many submissions: each is in the gradebook as soon as it is graded, once, and is never lost."""

from __future__ import annotations

import hashlib
import os
import secrets
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ...submissions.reading.packing import HandIn, pack_folder, pack_of_class
from ..architecture.family import version_of
from ..assignment.assignment import Assignment
from ..assignment.commands import again
from ..points.scoring import judging_digest, scored
from ..record.adjustment import UNADJUSTED
from ..record.grade import decided
from ..record.result import Outcome, Result, Status
from .engines import Begun, Done, Engine
from .gradebook.gradebook_error import GradebookError
from .gradebook.store import Gradebook
from .gradebook.work import Work, is_outdated
from .handing_in import LatenessOf
from .tasks import Setting, Task

NOWHERE: Mapping[str, Sequence[str]] = MappingProxyType({})
_BUSY = 2  # programs ready to run for each core: jobs alone make one


class Watch:
    """Who is told how a run goes on; what is not overridden is passed over."""

    def start(self, waiting: int, taken: int) -> None:
        """So many are graded now, and so many taken from the gradebook."""

    def begun(self, name: str) -> None:
        """A worker grades this one."""

    def done(self, result: Result) -> None:
        """It is graded, kept, and its files are written."""

    def taken(self, result: Result) -> None:
        """The files of one that was taken are written again."""


@dataclass(frozen=True)
class Class:
    """How a run ended."""

    seed: int
    graded: int
    left: int  # which it did not come to
    lost: tuple[str, ...]  # the names of those on which the grader itself failed, or a busy machine
    outdated: tuple[str, ...] = ()  # those about whose earlier versions something was decided


def grade_many(
    class_: Mapping[str, Path],
    assignment: Assignment,
    out: Path,
    *,
    engine: Engine,
    gradebook: Gradebook,
    watch: Watch,
    setting: Setting,
    seed: int | None = None,
    checks: Path | None = None,
    force: bool = False,
    retry: bool = False,
    places: Mapping[str, Sequence[str]] = NOWHERE,
    anonymous: bool = False,
) -> Class:
    """Grade the submissions of ``class_``, by name, and write the reports of each, and of all, below ``out``.

    What the gradebook has of the same content, assignment, checks, isolation and version (and ``seed``, if
    one is given) is taken from there, unless told to ``force`` or ``retry`` it, with the points that the
    assignment gives today; an unfinished run of the same class is continued. ``places`` are the words that
    name submissions to `vitcheck check`, to repeat it; where it is ``anonymous``, files are called as their
    submissions. An exception leaves all that was done in the gradebook. Raises GradebookError and OSError
    where that or a file cannot be written, and EngineError. Where the grader fails on one of them, by
    whatever exception, that one is lost and the others are graded.
    """
    from ...reports.writer import write_class

    own = pack_folder(checks) if checks else None

    def packed(name: str) -> HandIn:
        handed = pack_of_class(class_[name])
        return handed.called(name) if anonymous else handed

    contents = {name: packed(name).digest for name in class_}
    work = work_of(assignment, contents, own, setting, seed=seed, forced=force, retry=retry)
    class_run = _ClassRun(work, assignment, out, gradebook, watch)
    tasks = (
        Task(
            packed(name),
            name,
            assignment,
            class_run.run.seed,
            own,
            setting,
            command=again(places.get(name, [str(path)]), assignment, class_run.run.seed, checks),
        )
        for name, path in class_.items()
        if name not in class_run.taken
    )
    watch.start(len(class_) - len(class_run.taken), len(class_run.taken))
    with engine:
        _grade(tasks, engine, class_run, watch)
    write_class(class_run.results(), out)
    return class_run.end()


def work_of(
    assignment: Assignment,
    contents: Mapping[str, str],
    own: HandIn | None,
    setting: Setting,
    *,
    seed: int | None = None,
    forced: bool = False,
    retry: bool = False,
) -> Work:
    """What is to be graded, of submissions with these digests."""
    return Work(
        assignment=assignment.name,
        assignment_digest=_digest(assignment.model_dump_json(), own),
        judging_digest=_digest(judging_digest(assignment), own),
        contents=contents,
        version=version_of(assignment.architecture),
        isolation=setting.isolation.value,
        seed=seed,
        forced=forced,
        late=assignment.late.model_dump_json() if assignment.late else None,
        retry=retry,
    )


def written_anew(
    work: Work,
    assignment: Assignment,
    out: Path,
    gradebook: Gradebook,
    fresh: Mapping[str, Result],
    seed: int,
) -> None:
    """Keep the results in ``fresh``, which were drawn from ``seed``, and write all reports of ``work`` anew.

    What is not among them is taken from the gradebook, with the points and texts of today. Raises
    GradebookError and OSError.
    """
    from ...reports.writer import write_class

    class_run = _ClassRun(work, assignment, out, gradebook, Watch(), seed)
    for result in fresh.values():
        class_run.add(result)
    write_class(class_run.results(), out)
    class_run.end()


def _grade(tasks: Iterable[Task], engine: Engine, class_run: _ClassRun, watch: Watch) -> None:
    """Keep what comes of each; what met a limit on a busy machine is tried once more, alone.

    Where it meets one again, and the machine is still busy, it is not kept: that says nothing of the work.
    """
    late: list[Task] = []
    for event in engine.run(tasks):
        if isinstance(event, Begun):
            watch.begun(event.task.name)
        elif _is_doubtful(event):
            late.append(event.task)
        else:
            class_run.keep(event)
    for task in late:
        for event in engine.run([task]):
            if isinstance(event, Done):
                class_run.keep(event, unfinished=event.result is not None and _is_doubtful(event))


def _is_doubtful(done: Done) -> bool:
    """Did it run out of time, or the grader out of something, while this machine had far too much to do?"""
    result = done.result
    outcomes = [] if result is None else [result.status, *(one.outcome for one in result.checks)]
    late = result is None or Status.TIMED_OUT in outcomes or Outcome.TIMED_OUT in outcomes
    return late and os.getloadavg()[0] > _BUSY * (os.cpu_count() or 1)


def _digest(asked: str, own: HandIn | None) -> str:
    """The same where the same is asked for."""
    return hashlib.sha256((asked + (own.digest if own else "")).encode()).hexdigest()


class _ClassRun:
    """A run that goes on: which attempts are taken from the gradebook, and which were made."""

    def __init__(
        self,
        work: Work,
        assignment: Assignment,
        out: Path,
        gradebook: Gradebook,
        watch: Watch,
        seed: int | None = None,
    ) -> None:
        self._work, self._out, self._gradebook, self._watch = work, out, gradebook, watch
        self._assignment = assignment
        self.run = gradebook.begin(work, secrets.randbelow(2**31) if seed is None else seed)
        self.taken = gradebook.finished(work, self.run)
        self._decisions = gradebook.decisions(work.assignment)
        self._lateness = LatenessOf(gradebook, work.assignment, assignment.late)
        self._graded: dict[str, int] = {}
        self._lost: dict[str, Result] = {}

    def keep(self, done: Done, *, unfinished: bool = False) -> None:
        """Put a result into the gradebook, before its files; one that the grader failed on is not kept.

        Nor is one that is ``unfinished``.
        """
        task, result = done.task, done.result or done.task.lost()
        result = task.unfinished() if unfinished else result
        try:
            if not result.unjudged:
                self.add(result)
            else:
                self._write(result)
        except (GradebookError, OSError):  # which would be the same for the next
            raise
        except Exception:
            traceback.print_exc()
            result = task.lost()
            self._write(result)
        if result.unjudged:
            self._lost[task.name] = result
        self._watch.done(result)

    def add(self, result: Result) -> None:
        """Put a result into the gradebook, before its files."""
        name = result.submission
        self._graded[name] = self._gradebook.record(self.run, self._work.contents[name], result)
        self._write(result)

    def results(self) -> Iterator[Result]:
        """One after the other, since all at once may be too many; files of those taken are written again."""
        for name in self._work.contents:
            if name in self._lost:
                yield self._decided(self._lost[name])
            elif name in self._graded:
                yield self._decided(self._gradebook.result(self._graded[name]))
            elif name in self.taken:
                result = self._decided(self._as_asked(name))
                self._write(result)
                self._watch.taken(result)
                yield result

    def _as_asked(self, name: str) -> Result:
        """What is taken, with the points and texts of today; a change of them is an attempt of its own."""
        kept = self._gradebook.result(self.taken[name])
        result = scored(kept, self._assignment)
        if result != kept:
            self._gradebook.record(self.run, self._work.contents[name], result)
        return result

    def end(self) -> Class:
        """Note in the gradebook if all are graded, so that the same command begins another run."""
        left = len(self._work.contents.keys() - self.taken.keys() - self._graded.keys() - self._lost.keys())
        if not left and not self._lost:
            self._gradebook.end(self.run)
        graded = len(self._graded.keys() - self._lost.keys())
        return Class(self.run.seed, graded, left, tuple(self._lost), tuple(self._outdated()))

    def _outdated(self) -> Iterator[str]:
        contents = self._work.contents
        about = {name: one for name, one in self._decisions.items() if name in contents}
        return (name for name, one in about.items() if is_outdated(one, contents[name]))

    def _write(self, result: Result) -> None:
        from ...reports.writer import write_submission

        write_submission(self._decided(result), self._out / result.submission)

    def _decided(self, result: Result) -> Result:
        name, decision = result.submission, self._decisions.get(result.submission)
        late = self._lateness.of(name, decision.adjustment if decision else UNADJUSTED)
        result = result.model_copy(update={"lateness": late})
        if decision is None:
            return result
        outdated = is_outdated(decision, self._work.contents[name])
        return decided(result, decision.adjustment, outdated=outdated)
