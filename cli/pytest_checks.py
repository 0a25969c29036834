"""The checks of a submission as pytest's tests: ``vit.py::S12 attention_scores::equation``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from vitcheck.checks.architecture.catalogue import mistakes
from vitcheck.checks.record.result import CheckResult, Outcome
from vitcheck.pytest_text import failure_text
from vitcheck.reference.stages import stage

if TYPE_CHECKING:
    from vitcheck.checks.rules.declaring import Check as Planned
    from vitcheck.pytest_submission import SubmissionPlugin


class CheckMissed(Exception):
    """A check that did not pass; the text is for the student."""


class SubmissionChecks(pytest.File):
    """All checks that the assignment asks for. None of the submission's code is run to list them."""

    def __init__(self, *, submission: SubmissionPlugin, **of_node: Any) -> None:
        super().__init__(**of_node)
        self._submission = submission

    def collect(self) -> Iterator[pytest.Collector]:
        """One group for each stage, and for each kind of other checks."""
        from vitcheck.checks.grading.running import planned_checks  # loads torch

        asked = self._submission.assignment
        shown = [one for one in planned_checks(asked) if asked.shows(one.id)]
        for name, checks in groupby(sorted(shown, key=_group), _group):
            yield _StageCollector.from_parent(
                self, name=name, checks=list(checks), submission=self._submission
            )


class _StageCollector(pytest.Collector):
    def __init__(self, *, checks: list[Planned], submission: SubmissionPlugin, **of_node: Any) -> None:
        super().__init__(**of_node)
        self._checks, self._submission = checks, submission

    def collect(self) -> Iterator[pytest.Item]:
        for check in self._checks:
            kind, label = _parts(check)
            name = kind if check.stage else label or kind
            yield CheckItem.from_parent(self, name=name, planned=check, submission=self._submission)


class CheckItem(pytest.Item):
    """One check; the first to run has the submission graded."""

    def __init__(self, *, planned: Planned, submission: SubmissionPlugin, **of_node: Any) -> None:
        super().__init__(**of_node)
        self._planned, self._submission = planned, submission
        if planned.stage:
            label = stage(planned.stage).label
            self.add_marker(pytest.mark.stage(label=label, key=planned.stage))
            self.user_properties.append(("stage", label))
        for id in _shows(planned):
            self.add_marker(pytest.mark.mistake(id=id))

    def runtest(self) -> None:
        """Raises CheckMissed where the check did not pass; one that says nothing is skipped."""
        result = self._submission.result
        found = next((one for one in result.checks if one.id == self._planned.id), None)
        if found is not None:
            self.user_properties += [("earned", found.earned), ("points", found.points)]
        if found is not None and _says_nothing(found):
            pytest.skip(failure_text(result, found.id))
        if found is None or found.outcome is not Outcome.PASSED:
            raise CheckMissed(failure_text(result, self._planned.id))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What the student needs, without a traceback of ours."""
        missed = isinstance(excinfo.value, CheckMissed)
        return str(excinfo.value) if missed else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, None, str]:
        """What stands above the failure."""
        return self.path, None, self.nodeid.partition("::")[2].replace("::", " ")


def _parts(check: Planned) -> tuple[str, str]:
    """``equation[S12]`` in two; of a rule of its own the second is empty."""
    kind, _, label = check.id.partition("[")
    return kind, label.removesuffix("]")


def _group(check: Planned) -> str:
    kind, label = _parts(check)
    if check.stage:
        return f"{stage(check.stage).label} {check.stage}"
    return kind if label else "model"


def _shows(check: Planned) -> Iterator[str]:
    """What an equation that fails may be the sign of."""
    if check.stage and check.id.startswith("equation["):
        return (one.id for one in mistakes().values() if one.stage == check.stage)
    return iter(())


def _says_nothing(check: CheckResult) -> bool:
    """It does not apply; or another check failed before it, and it would cost nothing of its own."""
    missed = check.outcome is Outcome.NOT_REACHED and not check.points
    return missed or check.outcome is Outcome.SKIPPED
