"""An instructor's own checks: pytest files, run under pytest in this process."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from ..architecture.family import Family
from ..examining.drawing import Draw
from ..examining.examination import Examination
from ..examining.strategies import Drawing, drawing_for, drawn_alike
from ..examining.verdicts import CheckFailed, NotAsked
from ..parts.exercise_judging import Exercises, exercises_of
from ..parts.parts import Parts, parts_of
from ..rules.declaring import Check, title_and_heading

_OPTIONS = (
    "-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:faulthandler", "-p", "no:logging",
    "-p", "no:unraisableexception", "-p", "no:threadexception",  # they collect garbage for half a second
    "--capture=no", "--import-mode=importlib", "-o", "addopts=", "-c", os.devnull,
)  # fmt: skip
# What happens to be installed or set beside vitcheck must not change a grade.
_ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "", "PYTEST_ADDOPTS": ""}

Ended = tuple[Check, BaseException | None]  # a check, and what it raised


def run_own_checks(folder: Path, examination: Examination) -> list[Ended]:
    """Every test in the pytest files of this folder, in order, as a check.

    Raises RuntimeError where pytest could not run them, such as for a file that cannot be imported.
    """
    folder = folder.resolve()
    # the root names modules, which must not be taken for others; what lies above the folder is not looked at
    roots = f"--rootdir={folder.anchor}", f"--confcutdir={folder}"
    with (
        pytest.MonkeyPatch.context() as environment,
        _modules_forgotten(folder),
        contextlib.redirect_stdout(io.StringIO()) as printed,
        drawn_alike(),
        drawing_for(examination) as drawing,
    ):
        for name, value in _ENVIRONMENT.items():
            environment.setenv(name, value)
        recorder = _Recorder(examination, drawing)
        code = pytest.main([*_OPTIONS, *roots, str(folder)], plugins=[recorder])
    if recorder.interrupted:  # as is all else that goes on
        raise KeyboardInterrupt
    if recorder.broken or code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        nothing = (
            "there is no test_*.py with a test in it" if code == pytest.ExitCode.NO_TESTS_COLLECTED else ""
        )
        problem = "\n".join(recorder.broken) or printed.getvalue() or nothing or f"pytest ended with {code!r}"
        raise RuntimeError(f"the checks in {folder} could not be run: {problem}")
    return recorder.ended


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


@dataclass(eq=False)  # pytest keeps plugins in a set
class _Recorder:
    """A pytest plugin: gives tests their fixtures, and keeps how each of them ended."""

    subject: Examination
    drawing: Drawing
    ended: list[Ended] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    interrupted: bool = False

    @pytest.fixture(scope="session")
    def examination(self) -> Examination:
        """The submission under examination: its traces, located stages and process."""
        return self.subject

    @pytest.fixture(scope="session")
    def parts(self) -> Parts:
        """The single components that the assignment asks for."""
        return parts_of(self.subject)

    @pytest.fixture(scope="session")
    def exercises(self) -> Exercises:
        """The exercises that the assignment asks for."""
        return exercises_of(self.subject)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """``pytest.exit`` comes here, too, and so does what cannot be collected, as a subclass of it."""
        self.interrupted = excinfo.type is KeyboardInterrupt

    def pytest_runtest_setup(self) -> None:
        self.drawing.last = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(report.longreprtext)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """In place of pytest's own, which formats a traceback for each check that did not pass."""
        problem = None if call.excinfo is None else call.excinfo.value
        if call.when == "call" or problem is not None:
            self.ended.append((_check(item, self.subject.family), _meant(problem, self.drawing.last)))
        assert call.when != "collect"  # pytest does not ask this of a collection
        outcome: Literal["passed", "failed"] = "passed" if problem is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)


def _check(item: pytest.Item, family: Family) -> Check:
    """``test_scores[S12]`` is ``own.scores[S12]``, at that stage; its docstring says what any check says."""
    id = item.name.removeprefix("test_")
    label = id.partition("[")[2].rstrip("]")
    stage = next((one.key for one in family.stages if one.label == label), None)
    title, failing = title_and_heading(getattr(item, "function", item))
    return Check(f"own.{id}", stage, title, lambda examination: item.runtest(), failing)


def _meant(problem: BaseException | None, draw: Draw | None) -> BaseException | None:
    """What the end of a test means here; ``draw`` is what it was tried at last."""
    match problem:
        case pytest.skip.Exception():  # an instructor's own check decides as well
            return NotAsked(str(problem))
        case CheckFailed():
            return CheckFailed(problem.message, problem.mistakes, problem.draw or draw, problem.frame)
        case AssertionError() | pytest.fail.Exception():
            return CheckFailed(str(problem), (), draw)
    return problem
