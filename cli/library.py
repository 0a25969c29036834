"""vitcheck as a library: what the commands do, with results for return values."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typing_extensions import TypeIs

from vitcheck.checks.assignment.assignment import Assignment, load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT, assignment_for
from vitcheck.checks.classes.engines.local import Local
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.many import Watch, grade_many
from vitcheck.checks.classes.tasks import Setting, Task, own_work
from vitcheck.checks.examining.passes.pictures import demand_a_model, read_picture
from vitcheck.checks.parts.alone import (
    alone,
    asked_alone,
    computes,
    is_no_model,
    is_part,
    likeliest,
    resemblance,
    told_as_part,
)
from vitcheck.checks.record.result import StageStatus, Status
from vitcheck.options import demand, submissions_in
from vitcheck.plain_errors import said_plainly
from vitcheck.reference.components import COMPONENTS
from vitcheck.reference.stages import stage as stage_called
from vitcheck.shown import Result, Trace
from vitcheck.submissions.host.popular import popular_packages
from vitcheck.submissions.reading.live import Definition, definition_of, hand_in
from vitcheck.submissions.reading.lms_batches import laid_out
from vitcheck.submissions.reading.submission_names import submission_names
from vitcheck.submissions.sandbox.isolation import Isolation, open_sandbox
from vitcheck.warm import WarmGrader

if TYPE_CHECKING:
    from vitcheck.checks.record import result as records

Place = str | PathLike[str]

_PARTS = "vit-basics"
_ANEW = "An instance is graded as its class, which is built anew, without the arguments that it was given"


@said_plainly
def check(
    what: object, assignment: Place | Assignment | None = None, stage: str | None = None, *, seed: int = 0
) -> Result:
    """Check one submission: a path, or a class, function or instance that lives in this Python.

    Of what lives, the source is graded, as it stands in its file or in the cells of the notebook: a class or
    an instance of it as the whole model, and so is a function that returns one. With ``stage``, such as
    "S15" or "attention_output", a class or function is graded alone, as the part of a model that computes
    this stage; of a path, the stage is what the result shows first. ``assignment`` is the name of one that
    ships, a TOML file or an ``Assignment``. Where nothing is said, it is the ``assignment.toml`` beside the
    path or above it, or else "vit"; of what lives, that of the working folder, and of parts "vit-basics".
    Sizes, weights and images are drawn from ``seed``.

    The code runs in a process of its own, which stays ready for the next call. What is wrong with it is in
    the result. Raises FileNotFoundError for a path where nothing is, NoSourceError (a ValueError) where the
    code cannot be found, ValueError for an unknown stage, AssignmentError, and RuntimeError where the
    grader itself fails.
    """
    key = None if stage is None else stage_called(stage).key
    if key is not None and not _is_path(what):
        return _of_part(_as_part(what, key, _loaded(assignment or _PARTS), seed), key)
    result = _graded(_of_whole(what, _asked_of(what, assignment), seed))
    if _is_path(what):
        return _shown(result, key)
    part = _as_any_part(what, seed) if assignment is None and is_no_model(result) else None
    return _shown(_told_of_instance(result, what)) if part is None else _of_part(part)


@said_plainly
def trace(
    what: object, image: Place, assignment: Place | Assignment | None = None, *, seed: int = 0
) -> Trace:
    """Follow the picture in the file ``image`` through all stages of a submission, given as to ``check``.

    Stages are found and judged as ``check`` does it; shapes and numbers are those of the picture, after the
    usual preprocessing. Raises what ``check`` does, and PictureError for a picture that cannot be used.
    """
    demand(Path(image))
    picture, asked = read_picture(Path(image)), _asked_of(what, assignment)
    demand_a_model(asked)
    task = replace(_of_whole(what, asked, seed), picture=picture)
    return Trace.of(_graded(task), picture.told)


@said_plainly
def grade(
    paths: Place | Iterable[Place],
    assignment: Place | Assignment = DEFAULT,
    *,
    out: Place = "grades",
    jobs: int | None = None,
    seed: int | None = None,
    checks: Place | None = None,
    isolation: Literal["auto", "require", "none"] = "auto",
    force: bool = False,
    gradebook: str | None = None,
) -> list[Result]:
    """Grade a class as ``vitcheck grade`` does, batches included, and write the same files, without printing.

    Returns the results in the order of the submissions, those that were taken from the gradebook included;
    one on which the grader itself failed says so in its reason. Raises FileNotFoundError and ValueError
    where there is nothing to grade, AssignmentError, GradebookError, EngineError or IsolationError where
    something that it needs cannot be had, and OSError where a file cannot be written. What was finished
    before is in the gradebook.
    """
    given = [Path(one) for one in ([paths] if isinstance(paths, (str, PathLike)) else paths)]
    own = None if checks is None else Path(checks)
    for path in (*given, own):
        demand(path)
    with ExitStack() as batches:
        laid = [batches.enter_context(laid_out(path, Path(out), _say_nothing)) for path in given]
        found = submissions_in(laid, Path(out))
        setting = Setting(Isolation(isolation), popular_packages(found))
        open_sandbox(setting.isolation)  # or every worker would say that it cannot be had
        kept = _ResultKeeper()
        class_ = dict(zip(submission_names(found), found, strict=True))
        with open_gradebook(gradebook or str(Path(out, "gradebook.sqlite")), create=True) as book:
            grade_many(
                class_,
                _loaded(assignment),
                Path(out),
                engine=Local(jobs or os.cpu_count() or 1),
                gradebook=book,
                watch=kept,
                setting=setting,
                seed=seed,
                checks=own,
                force=force,
            )
        return [kept.results[name] for name in class_]


def _say_nothing(text: str) -> None:
    """Of what was decided between files of a batch, which the command tells."""


class _ResultKeeper(Watch):
    """Keeps the results of a run by name."""

    def __init__(self) -> None:
        self.results: dict[str, Result] = {}

    def done(self, result: records.Result) -> None:
        self.results[result.submission] = Result.of(result)

    taken = done


def _asked_of(what: object, assignment: Place | Assignment | None) -> Assignment:
    """The assignment that is named, or else the one that a path is for, or the working folder."""
    return _loaded(assignment or assignment_for(Path(what) if _is_path(what) else Path.cwd()))


def _loaded(assignment: Place | Assignment) -> Assignment:
    return assignment if isinstance(assignment, Assignment) else load_assignment(str(assignment))


def _is_path(what: object) -> TypeIs[Place]:
    return isinstance(what, (str, PathLike))


def _of_whole(what: object, assignment: Assignment, seed: int) -> Task:
    """To grade a path, or the class or function that lives here as the model."""
    if _is_path(what):
        demand(path := Path(what))
        return own_work(path, assignment, seed)
    definition = definition_of(what)
    model = assignment.model.model_copy(update={"name": definition.__name__})
    return _of_live(definition, assignment.model_copy(update={"model": model}), seed)


def _of_live(definition: Definition, assignment: Assignment, seed: int) -> Task:
    """As ``own_work``, of what has no file of its own."""
    name = definition.__name__
    command = f"vitcheck.check({name}, {assignment.asked_for!r}, seed={seed})"
    setting = Setting(Isolation.NONE)
    return Task(hand_in(definition), name, assignment, seed, setting=setting, command=command, is_own=True)


def _as_part(what: object, key: str, base: Assignment, seed: int) -> records.Result:
    """Grade it as each component that computes the stage, and return the likeliest."""
    definition = definition_of(what)
    asked = asked_alone(base, key, definition.__name__)
    found = likeliest([_graded(_of_live(definition, one, seed)) for one in asked])
    other = None if computes(found, key) else _as_any_part(what, seed)
    return found if other is None else other


def _as_any_part(what: object, seed: int) -> records.Result | None:
    """Grade it as each component, and return the likeliest; None where it is like none."""
    definition, base = definition_of(what), load_assignment(_PARTS)
    found = [
        told_as_part(_graded(_of_live(definition, alone(base, one, definition.__name__), seed)), one)
        for one in COMPONENTS.values()
    ]
    best = max(found, key=lambda one: (resemblance(one), one.score.earned))
    return best if is_part(best) else None


def _of_part(record: records.Result, key: str | None = None) -> Result:
    """The first stage of the part that is wrong is shown, whichever was asked about."""
    wrong = (one.key for one in record.stages.values() if one.status is StageStatus.FAILED)
    return _shown(record, next(wrong, key))


@cache
def _grader() -> WarmGrader:
    """The one of this Python, which ends with it."""
    grader = WarmGrader()
    atexit.register(grader.stop)
    return grader


def _graded(task: Task) -> records.Result:
    return _grader().grade(task)


def _told_of_instance(result: records.Result, what: object) -> records.Result:
    if result.status is not Status.NOT_LOADED or isinstance(what, Definition):
        return result
    return result.model_copy(update={"reason": f"{result.reason}. {_ANEW}."})


def _shown(record: records.Result, key: str | None = None) -> Result:
    """The record as it shows itself, with the stage ``key`` first."""
    return Result.of(record, next((label for label, one in record.stages.items() if one.key == key), None))
