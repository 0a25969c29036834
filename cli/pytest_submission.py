"""The submission of ``pytest --vit FILE``: found among what pytest collects, and graded once a process."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import ExitStack
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from vitcheck import exits
from vitcheck.options import demand, load_for
from vitcheck.pytest_checks import SubmissionChecks
from vitcheck.reference.stages import stage
from vitcheck.reports.words.quoting import fault
from vitcheck.submissions.errors import SubmissionError
from vitcheck.submissions.host.process import Zygote

if TYPE_CHECKING:
    from torch import Tensor

    from vitcheck.checks.examining.examination import Examination
    from vitcheck.checks.record.result import Result


class Tensors(dict[str, "Tensor"]):
    """Tensors by the key of their stage. Labels such as S12 are understood, too."""

    def __missing__(self, id: str) -> Tensor:
        __tracebackhide__ = True
        row = stage(id)
        if row.key in self:
            return self[row.key]
        raise LookupError(f"{row.label} {row.key} was not found; there are {', '.join(self)}")


class SubmissionPlugin:
    """A pytest plugin, registered where a submission is given."""

    def __init__(self, config: pytest.Config) -> None:
        self.path = (config.invocation_params.dir / config.getoption("vit")).resolve()
        self.seed: int = config.getoption("vit_seed")
        try:
            demand(self.path)
            self.assignment = load_for(self.path, config.getoption("vit_assignment"))
        except FileNotFoundError as error:
            raise pytest.UsageError(str(error)) from None
        except click.BadParameter as error:
            raise pytest.UsageError(error.message) from None
        if not any(self._lies_below(_path_of(one, config), config) for one in config.args):
            config.args.append(str(self.path))
        self._open = ExitStack()

    def _lies_below(self, folder: Path, config: pytest.Config) -> bool:
        """Does pytest come to it where it is told to run that? Before 9 it may not be told twice."""
        if not self.path.is_relative_to(folder):
            return False
        between = self.path.relative_to(folder).parts[:-1]
        return not any(fnmatch(one, skipped) for one in between for skipped in config.getini("norecursedirs"))

    @cached_property
    def _zygote(self) -> Zygote:
        """The one of this process."""
        return self._open.enter_context(Zygote())

    @cached_property
    def result(self) -> Result:
        """What grading found, in a process under a clock. Ends the whole run where the grader fails."""
        from vitcheck.checks.classes.tasks import own_work
        from vitcheck.warm import WarmGrader

        try:
            with WarmGrader() as grader:
                return grader.grade(own_work(self.path, self.assignment, self.seed))
        except Exception as error:
            print(fault(), file=sys.stderr)
            pytest.exit(f"the grader itself failed, which says nothing of the work: {error}", exits.HARNESS)

    @cached_property
    def examination(self) -> Examination:
        """Open until pytest ends. Fails the test that asks where the submission cannot be examined.

        It is graded first, since nothing here would end what takes too long to judge.
        """
        from vitcheck.checks.examining.strategies import drawing_for
        from vitcheck.checks.grading.grading import Grading

        if self.result.reason is not None:
            pytest.fail(f"the submission cannot be examined: {self.result.reason}", pytrace=False)
        opened = Grading(self.path, self.assignment, self._zygote, self.seed).examined()
        try:
            examination = self._open.enter_context(opened)
        except SubmissionError as error:
            pytest.fail(f"the submission cannot be examined: {error.reason}", pytrace=False)
        self._open.enter_context(drawing_for(examination))
        return examination

    @cached_property
    def stages(self) -> Tensors:
        """What the submission computed in the first pass, in block 1 where there are several."""
        example = self.examination.examples[0]
        tensors = Tensors(image=example.draw.image)
        for one in example.seen:
            tensors.setdefault(one.step.key, one.student)
        return tensors

    @cached_property
    def reference(self) -> Tensors:
        """What the reference with the same weights computes in that pass."""
        tensors = Tensors(image=self.stages["image"])
        for (key, _), tensor in self.examination.examples[0].reference.items():
            tensors.setdefault(key, tensor)
        return tensors

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """In place of what pytest would make of it, which would import it into this process."""
        collectors = yield
        return [self._collector(parent)] if file_path == self.path else collectors

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_directory(
        self, path: Path, parent: pytest.Collector
    ) -> Generator[None, pytest.Collector | None, pytest.Collector | None]:
        """The same for a folder."""
        collector = yield
        return self._collector(parent) if path == self.path else collector

    def _collector(self, parent: pytest.Collector) -> pytest.Collector:
        return SubmissionChecks.from_parent(parent, path=self.path, submission=self)

    def pytest_unconfigure(self) -> None:
        """End the process of the submission."""
        self._open.close()


def _path_of(argument: str, config: pytest.Config) -> Path:
    """Without the names of tests that follow it."""
    return (config.invocation_params.dir / argument.partition("::")[0]).resolve()
