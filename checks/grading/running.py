"""The check suite under pytest, in this process, for one submission."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from ...reference.components import COMPONENTS, Component
from ...reference.exercises import EXERCISES, Exercise
from ...submissions.errors import StudentCodeFailed, SubmissionError, TimedOut
from ..architecture.family import Family
from ..assignment.asked_parts import ASPECTS, Aspect
from ..assignment.assignment import Assignment
from ..examining.examination import Examination
from ..examining.verdicts import CheckFailed, CheckOutcome, NotApplicable, NotAsked, NotReached
from ..parts.exercises import Exercises
from ..parts.parts import Parts
from ..rules.rulebook import rulebook_of

SUITE = Path(__file__).with_name("suite")
_OF_MODEL = ("stages", "rules", "outputs", "properties")  # the last may end the process

_TITLED = (Component, Aspect, Exercise)
_OPTIONS = (
    "-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:faulthandler", "-p", "no:logging",
    "-p", "no:unraisableexception", "-p", "no:threadexception",  # they collect garbage for half a second
    "--capture=no", "--import-mode=importlib", "-o", "addopts=", "-c", os.devnull,
)  # fmt: skip


# What happens to be installed or set beside vitcheck must not change a grade.
_ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "", "PYTEST_ADDOPTS": ""}


@dataclass(frozen=True)
class Planned:
    """A check that an assignment asks for."""

    id: str
    stage: str | None  # key
    title: str


def planned_checks(assignment: Assignment) -> list[Planned]:
    """Every check of the suite that grading a submission ends with, in order; none is run."""
    planner = _Planner(assignment)
    with _environment():
        _run(planner, SUITE, *map(str, _files(assignment, None)), "--collect-only")
    return planner.planned


def run_suite(
    examination: Examination,
    checks: Path | None = None,
    parts: Parts | None = None,
    exercises: Exercises | None = None,
) -> list[CheckOutcome]:
    """Every check of the suite that is asked for, and of the pytest files in ``checks``, in order.

    Raises RuntimeError where pytest could not run them, such as for a file that cannot be imported.
    """
    recorder = _Recorder(examination, parts or Parts(examination), exercises or Exercises(examination))
    with _environment():
        if files := _files(examination.assignment, checks):
            _run(recorder, SUITE, *map(str, files))
        if checks is not None:
            _run(recorder, checks.resolve(), str(checks.resolve()))
    return recorder.outcomes


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        for name, value in _ENVIRONMENT.items():
            environment.setenv(name, value)
        yield


def _files(assignment: Assignment, checks: Path | None) -> list[Path]:
    """What the assignment asks for; parts first, since they cannot end the process that the model needs.

    Of a model nothing is run where only the instructor's own ``checks`` are paid for.
    """
    names = [name for name in ("components", "exercises") if getattr(assignment, name)]
    only_own = checks is not None and assignment.points.own == assignment.points.possible
    of_model = _OF_MODEL if assignment.architectures and not only_own else ()
    return [SUITE / f"test_{name}.py" for name in (*names, *of_model)]


def _run(plugin: _Planner, folder: Path, *arguments: str) -> None:
    # the root names modules, which must not be taken for others; what lies above the folder is not looked at
    roots = f"--rootdir={folder.anchor}", f"--confcutdir={folder}"
    with _modules_forgotten(folder), contextlib.redirect_stdout(io.StringIO()) as printed:
        code = pytest.main([*_OPTIONS, *roots, *arguments], plugins=[plugin])
    if plugin.interrupted:  # as is all else that goes on
        raise KeyboardInterrupt
    if not plugin.broken and code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return
    nothing = "there is no test_*.py with a test in it" if code == pytest.ExitCode.NO_TESTS_COLLECTED else ""
    problem = "\n".join(plugin.broken) or printed.getvalue() or nothing or f"pytest ended with {code!r}"
    raise RuntimeError(f"the checks in {folder} could not be run: {problem}")


@contextlib.contextmanager
def _modules_forgotten(folder: Path) -> Iterator[None]:
    """Files in ``folder`` are imported anew each time: they may change while this process goes on.

    The packages around it go too, which pytest imports by other names than theirs.
    """
    before = set(sys.modules)
    try:
        yield
    finally:
        places = {name: _place(sys.modules[name]) for name in set(sys.modules) - before}
        for name, place in places.items():
            if place is not None and (place.is_relative_to(folder) or folder.is_relative_to(place)):
                del sys.modules[name]


def _place(module: ModuleType) -> Path | None:
    """The folder that a module lies in; a package without ``__init__.py`` is one."""
    file = getattr(module, "__file__", None)
    if file:
        return Path(file).parent
    return next((Path(one) for one in getattr(module, "__path__", ())), None)


class _Planner:
    """A pytest plugin: makes the checks that an assignment asks for, and lists them."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self.planned: list[Planned] = []
        self.broken: list[str] = []
        self.interrupted = False

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """``pytest.exit`` comes here, too, and so does what cannot be collected, as a subclass of it."""
        self.interrupted = excinfo.type is KeyboardInterrupt

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One check for each row of what a test of the suite takes."""
        ours = metafunc.definition.path.parent == SUITE
        if rows := self._rows.get(metafunc.function.__name__) if ours else None:
            names, values = rows
            metafunc.parametrize(names, list(values.values()), ids=list(values))

    @cached_property
    def _rows(self) -> Mapping[str, tuple[str, Mapping[str, object]]]:
        """By test, what it takes, and its values by their part of the check's id."""
        asked, family = self._assignment, self._assignment.family
        stages = {one.label: one.key for one in family.stages[1:]}
        judged = {label: key for label, key in stages.items() if key in rulebook_of(family).invariants}
        parts = itertools.product((COMPONENTS[one] for one in asked.components), ASPECTS.values())
        return {
            **dict.fromkeys(("test_shape", "test_equation", "test_reference"), ("key", stages)),
            "test_invariant": ("key", judged),
            "test_breakpoint": ("label", {one.label: one.label for one in family.stages}),
            "test_property": ("holds", rulebook_of(family).properties),
            "test_output": ("output", {name: name for name in rulebook_of(family).outputs}),
            "test_exercise": ("exercise", {one: EXERCISES[one] for one in asked.exercises}),
            "test_component": ("component,aspect", {f"{one.key}.{of.key}": (one, of) for one, of in parts}),
        }

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(report.longreprtext)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.planned = [
            Planned(*check_id(one, self._assignment.family), _title(one)) for one in session.items
        ]


class _Recorder(_Planner):
    """Gives tests their fixtures as well, and keeps how each of them ended."""

    def __init__(self, examination: Examination, parts: Parts, exercises: Exercises) -> None:
        super().__init__(examination.assignment)
        self._examination, self._parts, self._exercises = examination, parts, exercises
        self.outcomes: list[CheckOutcome] = []

    @pytest.fixture(scope="session", name="examination")
    def examination_fixture(self) -> Examination:
        """The submission under examination: its traces, located stages and process."""
        return self._examination

    @pytest.fixture(scope="session", name="parts")
    def parts_fixture(self) -> Parts:
        """The single components that the assignment asks for."""
        return self._parts

    @pytest.fixture(scope="session", name="exercises")
    def exercises_fixture(self) -> Exercises:
        """The exercises that the assignment asks for."""
        return self._exercises

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """In place of pytest's own, which formats a traceback for each check that did not pass."""
        if call.when == "call" or call.excinfo is not None:
            self.outcomes.append(self._outcome(item, call.excinfo))
        assert call.when != "collect"  # pytest does not ask this of a collection
        outcome: Literal["passed", "failed"] = "passed" if call.excinfo is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)

    def _outcome(
        self, item: pytest.Item, problem: pytest.ExceptionInfo[BaseException] | None
    ) -> CheckOutcome:
        id, stage = check_id(item, self._examination.family)
        title = _title(item)
        if problem is None:
            return CheckOutcome(id, stage, title, "passed")
        match problem.value:
            case CheckFailed() as failed:
                return CheckOutcome(
                    *(id, stage, title, "failed", failed.message, failed.mistakes),
                    self._counterexample(failed),
                    failed.frame,
                )
            case NotReached() as missed:
                return CheckOutcome(id, stage, title, "not_reached", str(missed))
            case NotAsked() | pytest.skip.Exception() as skipped:  # an instructor's own check decides as well
                return CheckOutcome(id, stage, title, "skipped", str(skipped), asked=False)
            case NotApplicable() as skipped:
                return CheckOutcome(id, stage, title, "skipped", str(skipped))
            case SubmissionError() as ended:  # its process is gone: all that asks it from now on ends so
                outcome = "timed_out" if isinstance(ended, TimedOut) else "errored"
                return CheckOutcome(id, stage, title, outcome, ended.reason)
            case StudentCodeFailed() as raised:
                return CheckOutcome(id, stage, title, "failed", f"the model could not be built: {raised}")
            case AssertionError() | pytest.fail.Exception() as failed:  # of an instructor's own check
                return CheckOutcome(id, stage, title, "failed", str(failed))
            case other:
                return CheckOutcome(id, stage, title, "errored", f"{type(other).__name__}: {other}")

    def _counterexample(self, failed: CheckFailed) -> dict[str, object] | None:
        if failed.draw is None:
            return None
        command = self._examination.command
        return {**vars(failed.draw.sizes), "seed": failed.draw.seed, "command": command}


def _title(item: pytest.Item) -> str:
    """The docstring of the test, or else of the function that it is given, or the title of the part."""
    given = getattr(item, "callspec", None)
    parts = [one for one in given.params.values() if isinstance(one, _TITLED)] if given is not None else []
    if parts:
        return " ".join(one.title for one in parts)
    functions = [getattr(item, "function", None), *(given.params.values() if given is not None else ())]
    return next((one.__doc__.strip() for one in functions if callable(one) and one.__doc__), "")


def check_id(item: pytest.Item, family: Family) -> tuple[str, str | None]:
    """The id of a check and its stage's key: ``test_equation[S12]`` is ``equation[S12]``.

    Those of an instructor begin with ``own.``.
    """
    id = item.name.removeprefix("test_")
    label = id.partition("[")[2].rstrip("]")
    stage = next((one.key for one in family.stages if one.label == label), None)
    return id if item.path.parent == SUITE else f"own.{id}", stage
