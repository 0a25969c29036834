"""One submission, from its files to its result record."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import torch

from ...submissions.errors import Crashed, StudentCodeFailed, SubmissionError
from ...submissions.host.conversation import Child
from ...submissions.host.process import HANDLERS, WITH_SAMPLES, Zygote
from ...submissions.host.session import Session
from ...submissions.questions.pins import Pins
from ...submissions.reading.names import submission_name
from ...submissions.reading.source import Source, read_source
from ...submissions.written.reading import read_documents
from ..assignment.assignment import Assignment
from ..examining.examination import Examination
from ..examining.passes.pictures import Picture
from ..record.result import Result, Run
from ..rules.forgeries import refuse_forgeries
from ..written.examining import Written
from .assembling import Notes, graded, not_graded
from .running import run_checks


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

    What was ``left`` out of it before is noted, a sentence each.

    With a ``picture``, the numbers that the record shows of the stages, and its arrays, are of a pass on it:
    at the assignment's full size with three blocks, or at the model's own where it is fixed. What is right is
    judged on random images all the same.

    Raises RuntimeError where the grader itself fails, and PictureError where the model reads no such picture.
    """
    torch.set_num_threads(1)  # tensors are small: more threads only wait for each other
    began = time.perf_counter()
    name = submission_name(path) if name is None else name
    source: Source | None = None
    notes = Notes()
    layers: tuple[str, ...] = ()
    written = _written(path, assignment, zygote)
    try:
        source = read_source(path, left)
        with _child(zygote, assignment, seed) as child:
            layers, session = child.layers, Session(child)
            session.load(source)
            notes = Notes(session.left)
            inferred = _inferred(session, assignment)
            notes = Notes(session.left, inferred)  # of a script, other statements are left out
            examination = Examination(source, session, assignment, seed, picture)
            if assignment.architectures:
                examination.trace_examples()
                examination.locate_examples()
                refuse_forgeries(examination)
            outcomes = run_checks(examination, checks)
            run = _run(seed, began, layers, examination)
            return graded(name, examination, outcomes, notes, run, written)
    except StudentCodeFailed as failed:  # building it failed now, though it did not before
        error = Crashed(f"the model could not be built: {failed}", next(iter(failed.frames), None))
        return not_graded(name, assignment, error, source, notes, _run(seed, began, layers), written)
    except SubmissionError as error:
        return not_graded(name, assignment, error, source, notes, _run(seed, began, layers), written)


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


@contextmanager
def examined(path: Path, assignment: Assignment, *, zygote: Zygote, seed: int = 0) -> Iterator[Examination]:
    """Open what was handed in at ``path``, so that it can be asked, with no check run on it.

    Raises SubmissionError where it cannot be read, executed or built.
    """
    source = read_source(path)
    with _child(zygote, assignment, seed) as child:
        session = Session(child)
        session.load(source)
        _inferred(session, assignment)
        examination = Examination(source, session, assignment, seed)
        examination.trace_examples()
        examination.locate_examples()
        yield examination


def _child(zygote: Zygote, assignment: Assignment, seed: int) -> Child:
    handlers = WITH_SAMPLES if "get_attention" in assignment.exercises else HANDLERS
    return zygote.child(assignment.limits, seed=seed, handlers=handlers)


def _inferred(session: Session, assignment: Assignment) -> tuple[str, ...]:
    """Find the model, if the assignment asks for a whole one; the answer is what had to be inferred."""
    if not assignment.architectures:
        return ()
    pins = Pins(assignment.model.name, assignment.model.arguments)
    return session.infer(pins, assignment.family.small)


def versions(*packages: str) -> dict[str, str]:
    """Of Python and of the packages that are named, for the record."""
    return {"python": platform.python_version(), **{one: version(one) for one in packages}}


def _run(seed: int, began: float, layers: tuple[str, ...], examination: Examination | None = None) -> Run:
    model = examination if examination is not None and examination.assignment.architectures else None
    return Run(
        seed=seed,
        seconds=round(time.perf_counter() - began, 3),
        isolation=["own process", *layers],
        versions=versions("vitcheck", "torch", "hypothesis", "pytest"),
        command=None if examination is None else examination.command,
        examples=0 if model is None else len(model.examples),
        sizes={} if model is None else vars(model.shown().draw.sizes),
    )
