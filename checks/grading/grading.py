"""One submission, from its files to its result record."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from ...submissions.errors import NotLoaded, StudentCodeFailed, SubmissionError
from ...submissions.host.conversation import Child
from ...submissions.host.process import HANDLERS, WITH_SAMPLES, Zygote
from ...submissions.host.session import Session
from ...submissions.limits import Limits
from ...submissions.reading.code import demand_python
from ...submissions.reading.source import Source, read_source
from ...submissions.reading.submission_names import submission_name
from ...submissions.written.reading import read_documents
from ..assignment.assignment import Assignment
from ..examining.examination import Examination
from ..examining.passes.pictures import Picture
from ..examining.placeholders import ends_in_between, goes_further, has_gaps, may_end_early, until_unwritten
from ..examining.verdicts import CheckOutcome
from ..parts.in_progress import demand_a_part
from ..record.result import Result, Run
from ..repairing.repairing import find_repairs, is_repairable
from ..repairing.telling import amiss, drawn, drawn_at, is_named, may_be_a_slip, told
from ..rules.forgeries import refuse_forgeries
from ..written.examining import Written
from .assembling import graded
from .not_graded import GRADING, Notes, not_graded, versions
from .running import planned_checks, run_check, run_checks

_PASSED_ON = (
    "what is not written yet gave back what it was given, so that what stands behind it could be seen"
)
_CHANGED_SECONDS = 20.0  # of all changed programs of a submission, which take one to three


@dataclass
class Grading:
    """A submission on its way to a record: what is asked, and what is known of it so far, however it ends.

    With a ``picture``, the numbers that the record shows of the stages, and its arrays, are of a pass on it:
    at the assignment's full size with three blocks, or at the model's own where it is fixed. What is right is
    judged on random images all the same. What was ``left`` out of it before is noted, a sentence each.
    """

    path: Path
    assignment: Assignment
    zygote: Zygote
    seed: int = 0
    picture: Picture | None = None
    left: tuple[str, ...] = ()
    began: float = field(default_factory=time.perf_counter)
    source: Source | None = None
    notes: Notes = field(default_factory=Notes)
    layers: tuple[str, ...] = ()  # that its process is locked in

    @contextmanager
    def examined(self) -> Iterator[Examination]:
        """Open it, so that it can be asked, with no check run on it.

        One whose model cannot be built is ``unbuilt``: no pass is made, and only its parts can be asked.
        Raises SubmissionError where it cannot be read or executed.
        """
        asked = self.assignment
        source = self.source = read_source(self.path, self.left)
        demand_python(source.files)
        handlers = WITH_SAMPLES if "get_attention" in asked.exercises else HANDLERS
        with self.zygote.child(asked.limits, seed=self.seed, handlers=handlers) as child:
            self.layers, session = child.layers, Session(child)
            session.load(source)
            self.notes = Notes(session.left)
            examination = Examination(source, session, asked, self.seed, self.picture)
            if asked.architectures:  # a whole model is asked for
                self._pass(examination)
            with (
                self._until_unwritten(examination, handlers) as written,
                self._passing_on(written, handlers) as shown,
            ):
                yield shown

    def _pass(self, examination: Examination) -> None:
        """Makes the passes of its model, if there is one that can be built."""
        session = examination.session
        try:
            inferred = self._infer(session)
        except NotLoaded as reason:
            examination.unbuilt = reason
            return
        if not examination.passed_on:
            self.notes = Notes(session.left, inferred)  # of a script, other statements are left out
        examination.trace_examples()
        examination.locate_examples()

    @contextmanager
    def _until_unwritten(self, examination: Examination, handlers: str) -> Iterator[Examination]:
        """The submission as far as it is written, where a method ends too early; else as it is."""
        asked = examination.assignment.architectures
        if not asked or examination.unbuilt or not may_end_early(examination):
            yield examination
            return
        with self.zygote.child(self.assignment.limits, seed=self.seed, handlers=handlers) as child:
            yield self._shorter(examination, child) or examination

    def _shorter(self, examination: Examination, child: Child) -> Examination | None:
        with suppress(SubmissionError, StudentCodeFailed):
            return until_unwritten(examination, self._again(examination, child))
        return None

    @contextmanager
    def _passing_on(self, examination: Examination, handlers: str) -> Iterator[Examination]:
        """The submission with what is not written yet passed on, where that shows more; else as it is."""
        if not examination.assignment.architectures or not has_gaps(examination):
            yield examination
            return
        with self.zygote.child(self.assignment.limits, seed=self.seed, handlers=handlers) as child:
            yield self._further(examination, Session(child))

    def _further(self, examination: Examination, session: Session) -> Examination:
        form = Examination(examination.source, session, self.assignment, self.seed, self.picture)
        form.passed_on = True
        with suppress(SubmissionError, StudentCodeFailed):
            session.load(examination.source, passed_on=True)
            if ends_in_between(examination):
                self._pass(form)
            examination.forms = form.forms = (examination, form)
            if goes_further(form, examination):
                self.notes = replace(self.notes, inferred=(*self.notes.inferred, _PASSED_ON))
                return form
        return examination

    def _again(self, examination: Examination, child: Child) -> Session:
        """The same submission in a process of its own, for programs that are changed: they may end it."""
        session = Session(child)
        session.load(examination.source)
        self._infer(session)
        return session

    def repaired(self, examination: Examination, outcomes: list[CheckOutcome]) -> list[CheckOutcome]:
        """What is said of stages once small changes are known that make them right, if some are."""
        wrong = {one.id for one in amiss(outcomes)}
        is_whole = not (examination.unbuilt or examination.passed_on)
        if not is_whole or not may_be_a_slip(outcomes) or not is_repairable(examination):
            return outcomes
        with (
            suppress(SubmissionError, StudentCodeFailed),
            warnings.catch_warnings(),
            self.zygote.child(_briefer(self.assignment.limits), seed=self.seed) as child,
        ):
            warnings.simplefilter("ignore")  # of what a changed program makes of its numbers
            session = self._again(examination, child)
            found = find_repairs(examination, session, named=is_named(outcomes), only_at=drawn_at(outcomes))
            for one in found:
                again = (each for each in planned_checks(self.assignment) if each.id in wrong)
                mended = {each.id for each in again if run_check(each, one.after).outcome == "passed"}
                outcomes = told(outcomes, one, mended, examination) if mended else outcomes
                wrong -= mended
        return drawn(outcomes, examination)

    def _infer(self, session: Session) -> tuple[str, ...]:
        asked = self.assignment
        return session.infer(asked.model.pins, asked.family.small)

    def run(self, examination: Examination | None = None) -> Run:
        """How it was graded, for the record."""
        has_model = examination is not None and examination.examples
        model = examination if has_model else None
        return Run(
            seed=self.seed,
            seconds=round(time.perf_counter() - self.began, 3),
            isolation=["own process", *self.layers],
            versions=versions(*GRADING),
            command=None if examination is None else examination.command,
            examples=0 if model is None else len(model.examples),
            sizes={} if model is None else vars(model.shown().draw.sizes),
        )


def grade(
    path: Path,
    assignment: Assignment,
    *,
    zygote: Zygote,
    seed: int = 0,
    name: str | None = None,
    checks: Path | None = None,
    picture: Picture | None = None,
    left: tuple[str, ...] = (),
) -> Result:
    """Grades what was handed in at ``path``; a fault of the submission is a result, never an exception.

    It is read, loaded, traced, located, judged, and told in a record.

    Raises RuntimeError where the grader itself fails, and PictureError where the model reads no such picture.
    """
    torch.set_num_threads(1)  # tensors are small: more threads only wait for each other
    grading = Grading(path, assignment, zygote, seed, picture, left)
    name = submission_name(path) if name is None else name
    written = _written(path, assignment, zygote)
    try:
        with grading.examined() as examination:
            if examination.unbuilt:
                demand_a_part(examination)
            elif assignment.architectures:
                refuse_forgeries(examination)
            outcomes = grading.repaired(examination, run_checks(examination, checks))
            run = grading.run(examination)
            return graded(name, examination, outcomes, grading.notes, run, written)
    except StudentCodeFailed as failed:  # building it failed now, though it did not before
        error: SubmissionError = NotLoaded(f"the model could not be built: {failed}", failed.frame)
    except SubmissionError as raised:
        error = raised
    return not_graded(name, assignment, error, grading.source, grading.notes, grading.run(), written)


def _briefer(limits: Limits) -> Limits:
    """For changed programs, of which one that is slow by itself would take as long again for each."""
    return replace(limits, submission_seconds=min(_CHANGED_SECONDS, limits.submission_seconds))


def _written(path: Path, assignment: Assignment, zygote: Zygote) -> Written | None:
    """The reports beside the code, before that runs; None where nothing is asked for or to be said.

    Raises RuntimeError where a report counts, and the package that reads it is missing.
    """
    if assignment.written is None:
        return None
    documents = read_documents(path, zygote)
    if assignment.points.written and (lacking := [one for one in documents if one.lacking]):
        raise RuntimeError(f"{lacking[0].name} counts, and cannot be read: {lacking[0].problem}")
    pays = assignment.points.written or assignment.possible_by_hand
    return Written(documents, assignment, assignment.written) if documents or pays else None
