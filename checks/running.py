"""The check suite under pytest, in this process, for one submission."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from ..reference.stages import STAGES
from ..submissions.errors import StudentCodeFailed, SubmissionError, TimedOut
from .examination import Examination
from .verdicts import CheckFailed, CheckOutcome, NotApplicable, NotReached

SUITE = Path(__file__).with_name("suite")
_ORDER = ("stages", "rules", "properties")  # the last run the code in ways that may end its process

_LABELS = {stage.label: stage.key for stage in STAGES}
_OPTIONS = (
    "-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:faulthandler", "-p", "no:logging",
    "-p", "no:unraisableexception", "-p", "no:threadexception",  # they collect garbage for half a second
    "--capture=no", "--import-mode=importlib", "-o", "addopts=", "-c", os.devnull,
)  # fmt: skip


# What happens to be installed or set beside vitcheck must not change a grade.
_ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "", "PYTEST_ADDOPTS": ""}


def run_suite(examination: Examination, checks: Path | None = None) -> list[CheckOutcome]:
    """Every check of the suite, and of the pytest files in the folder ``checks``, in order.

    Raises RuntimeError where pytest could not run them, such as for a file that cannot be imported.
    """
    recorder = _Recorder(examination)
    with pytest.MonkeyPatch.context() as environment:
        for name, value in _ENVIRONMENT.items():
            environment.setenv(name, value)
        _run(recorder, SUITE, "--noconftest", *(SUITE / f"test_{name}.py" for name in _ORDER))
        if checks is not None:
            folder = checks.resolve()
            _run(recorder, folder, f"--confcutdir={folder}", folder)
    return recorder.outcomes


def _run(recorder: _Recorder, folder: Path, conftests: str, *paths: Path) -> None:
    with _modules_forgotten(folder), contextlib.redirect_stdout(io.StringIO()) as printed:
        arguments = [*_OPTIONS, f"--rootdir={folder.anchor}", conftests, *map(str, paths)]
        code = pytest.main(arguments, plugins=[recorder])
    if not recorder.broken and code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return
    nothing = "there is no test_*.py with a test in it" if code == pytest.ExitCode.NO_TESTS_COLLECTED else ""
    problem = "\n".join(recorder.broken) or printed.getvalue() or nothing or f"pytest ended with {code!r}"
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
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            place = Path(file).parent if file else None
            if place is not None and (place.is_relative_to(folder) or folder.is_relative_to(place)):
                del sys.modules[name]


class _Recorder:
    """A pytest plugin: gives tests their fixtures, and keeps how each of them ended."""

    def __init__(self, examination: Examination) -> None:
        self._examination = examination
        self.outcomes: list[CheckOutcome] = []
        self.broken: list[str] = []

    @pytest.fixture(scope="session", name="examination")
    def examination_fixture(self) -> Examination:
        """The submission under examination: its traces, located stages and process."""
        return self._examination

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(report.longreprtext)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "call" or call.excinfo is not None:
            self.outcomes.append(self._outcome(item, call.excinfo))
        return report

    def _outcome(
        self, item: pytest.Item, problem: pytest.ExceptionInfo[BaseException] | None
    ) -> CheckOutcome:
        id, stage = check_id(item)
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
            case NotApplicable() as skipped:
                return CheckOutcome(id, stage, title, "skipped", str(skipped))
            case pytest.skip.Exception() as skipped:
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
        command = f"vitcheck check {self._examination.source.name} --seed {self._examination.seed}"
        return {**vars(failed.draw.sizes), "seed": failed.draw.seed, "command": command}


def _title(item: pytest.Item) -> str:
    """The docstring of the test, or else of the function that it is given."""
    given = getattr(item, "callspec", None)
    functions = [getattr(item, "function", None), *(given.params.values() if given is not None else ())]
    return next((one.__doc__.strip() for one in functions if callable(one) and one.__doc__), "")


def check_id(item: pytest.Item) -> tuple[str, str | None]:
    """The id of a check and its stage's key: ``test_equation[S12]`` is ``equation[S12]``.

    Those of an instructor begin with ``own.``.
    """
    id = item.name.removeprefix("test_")
    label = id.partition("[")[2].rstrip("]")
    return id if item.path.parent == SUITE else f"own.{id}", _LABELS.get(label)
