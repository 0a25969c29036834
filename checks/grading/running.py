"""The checks that an assignment asks for, run on one submission in this process."""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path

from ...submissions.errors import StudentCodeFailed, SubmissionError, TimedOut
from ..assignment.assignment import Assignment
from ..assignment.kinds import judges_stage, kind_of, kinds
from ..examining.examination import Examination
from ..examining.verdicts import (
    NOT_BUILT,
    CheckFailed,
    CheckOutcome,
    Missing,
    NotApplicable,
    NotAsked,
    NotReached,
)
from ..parts.exercise_judging import exercise_checks
from ..parts.in_progress import written_parts
from ..parts.parts import component_checks
from ..rules.declaring import Check, checks_of
from ..rules.properties import OF_PARTS

_OF_PARTS = {f"property[{name}]" for name in OF_PARTS}


def planned_checks(assignment: Assignment) -> list[Check]:
    """Every check of vitcheck's own that the assignment asks for, in order.

    Parts come first, since they cannot end the process that the model needs.
    """
    known = checks_of(assignment.family)
    if assignment.architectures:
        asked = [one for one in known if assignment.asks(one.stage) or _is_of_code(one)]
    else:
        asked = [one for one in known if kinds()[kind_of(one.id)].of_parts]
    return [*_of_parts(assignment), *asked]


def _of_parts(assignment: Assignment) -> list[Check]:
    return [*component_checks(assignment), *exercise_checks(assignment)]


def _is_of_code(check: Check) -> bool:
    """Is it about no stage, and asked of a part of a model, too?"""
    return check.stage is None and not kinds()[kind_of(check.id)].finished


def run_checks(examination: Examination, own: Path | None = None) -> list[CheckOutcome]:
    """Every check that is asked for, and those in the folder ``own`` of an instructor's pytest files.

    Raises RuntimeError where pytest could not run them, such as for a file that cannot be imported.
    """
    asked = examination.assignment
    only_own = own is not None and asked.points.own == asked.points.possible
    planned = _of_parts(asked) if only_own else planned_checks(asked)
    outcomes = [run_check(one, examination) for one in planned]
    if own is not None and not examination.unbuilt:
        from .own_checks import run_own_checks  # loads pytest

        outcomes += [
            outcome_of(one, problem, examination) for one, problem in run_own_checks(own, examination)
        ]
    return outcomes


def run_check(check: Check, examination: Examination) -> CheckOutcome:
    """How it ends; whatever it raises is an outcome."""
    try:
        with warnings.catch_warnings():  # a library's, which nobody who grades can do anything about
            warnings.simplefilter("ignore")
            _run(check, examination)
    except Exception as problem:
        return outcome_of(check, problem, examination)
    return outcome_of(check, None, examination)


def _run(check: Check, examination: Examination) -> None:
    """Raises what it raises of the whole, or else of a part that is seen by itself."""
    having, missed = _having(check, examination), None
    try:
        _demand_whole(check, having)
        check.run(having)
    except NotReached as raised:
        missed = raised
    for part in dict.fromkeys(written_parts(examination).values()) if check.id in _OF_PARTS else ():
        with suppress(NotReached, NotApplicable):
            check.run(part)
    if missed is not None:
        raise missed


def _having(check: Check, examination: Examination) -> Examination:
    """What has the stage of the check: of unfinished work a part by itself may, where the whole has not."""
    if check.stage is None or not judges_stage(check.id):
        return examination
    return written_parts(examination).get(check.stage, examination)


def _demand_whole(check: Check, having: Examination) -> None:
    """Raises NotReached where a check is of a whole model, and there is none."""
    kind = kinds().get(kind_of(check.id))
    if kind is None or (having.unbuilt and kind.of_parts):
        return
    if having.unbuilt:
        raise NotReached(NOT_BUILT)


def outcome_of(check: Check, problem: BaseException | None, examination: Examination) -> CheckOutcome:
    """How a check ended that raised this, or nothing."""
    ended_as = partial(CheckOutcome, check.id, check.stage, check.title, failing=check.failing)
    match problem:
        case None:
            return ended_as("passed")
        case CheckFailed() as failed:
            return ended_as(
                *("failed", failed.message, failed.mistakes),
                _counterexample(failed, examination),
                failed.frame,
            )
        case Missing() as wanting:
            return ended_as("missing", str(wanting))
        case NotReached() as missed:
            return ended_as("not_reached", str(missed))
        case NotAsked() as skipped:
            return ended_as("skipped", str(skipped), asked=False)
        case NotApplicable() as skipped:
            return ended_as("skipped", str(skipped))
        case SubmissionError() as stopped:  # its process is gone: all that asks it from now on ends so
            outcome = "timed_out" if isinstance(stopped, TimedOut) else "errored"
            return ended_as(outcome, stopped.reason)
        case StudentCodeFailed() as raised:  # it was at those of the examples: code may refuse others
            return ended_as("skipped", f"the model cannot be built at the sizes that this asks for: {raised}")
        case other:
            return ended_as("errored", f"{type(other).__name__}: {other}")


def _counterexample(failed: CheckFailed, examination: Examination) -> dict[str, object] | None:
    if failed.draw is None:
        return None
    return {**vars(failed.draw.sizes), "seed": failed.draw.seed, "command": examination.command}
