"""Programs whose mistakes are known, and what is right of a verdict on one."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ...record.result import Outcome, Result, StageStatus, Status

CASES = "selftest_cases.py"


@dataclass(frozen=True)
class Planted:
    """A mistake, at a stage by its label ("" for the model as a whole)."""

    id: str
    stage: str
    accepted: tuple[str, ...] = ()  # ids of mistakes that give the very same values
    kind: str = "error"  # error | variant | layout
    elsewhere: tuple[str, ...] = ()  # labels of other stages that are as right


@dataclass(frozen=True)
class Case:
    """A program; one without mistakes is correct. ``group`` is its row in the table."""

    name: str
    group: str
    files: Mapping[str, bytes]
    mistakes: tuple[Planted, ...] = ()


@dataclass(frozen=True)
class CaseVerdict:
    """What a result says, in the order of the pipeline."""

    status: str
    stages: tuple[str, ...]  # labels of those that are wrong; else of the one that the first mistake names
    named: tuple[str, ...]  # ids of mistakes, the first to be shown first
    variants: tuple[str, ...]
    checks: tuple[str, ...]  # ids of the checks that failed

    @property
    def complains(self) -> bool:
        return self.status != Status.GRADED.value or bool(self.stages or self.named or self.checks)

    def detected(self, one: Planted) -> bool:
        return self.complains or bool(self._ids(one) & {*self.variants})

    def placed(self, one: Planted) -> bool:
        """Is its stage the first that is wrong? A variant that is accepted makes no stage wrong."""
        if one.kind != "error" and self._ids(one) & {*self.variants}:
            return True
        right = {(label,) if label else () for label in (one.stage, *one.elsewhere)}
        return self.stages[:1] in right

    def named_first(self, one: Planted) -> bool:
        first = {*self.named[:1]} if one.kind == "error" else {*self.named[:1], *self.variants}
        return bool(self._ids(one) & first)

    def names(self, one: Planted) -> bool:
        return bool(self._ids(one) & {*self.named, *self.variants})

    @staticmethod
    def _ids(one: Planted) -> set[str]:
        return {one.id, *one.accepted}

    def __str__(self) -> str:
        said = [*self.stages, *self.named, *(f"({name})" for name in self.variants)]
        return " ".join(said or self.checks) or (self.status if self.complains else "nothing")


def verdict_of(result: Result) -> CaseVerdict:
    """What is compared of a result."""
    wrong = [label for label, one in result.stages.items() if one.status is StageStatus.FAILED]
    blamed = [one.stage for one in result.mistakes[:1] if one.stage in result.stages]  # by a property alone
    failed = (Outcome.FAILED, Outcome.ERRORED, Outcome.TIMED_OUT)
    return CaseVerdict(
        status=result.status.value,
        stages=tuple(sorted(wrong) or blamed),
        named=tuple(one.id for one in result.mistakes),
        variants=tuple(one.id for one in result.variants),
        checks=tuple(one.id for one in result.checks if one.outcome in failed),
    )


def load_cases(folder: Path) -> Sequence[Case]:
    """The cases of a corpus: a folder with a ``selftest_cases.py`` whose ``cases()`` gives them.

    Raises ValueError where there is none.
    """
    module = corpus(folder)
    found: Sequence[Case] = module.cases()
    return found


def corpus(folder: Path) -> ModuleType:
    """The module that gives the programs of a corpus. Raises ValueError where there is none."""
    file = folder / CASES
    spec = importlib.util.spec_from_file_location("selftest_cases", file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise ValueError(
            f"there is no {CASES} in {folder}; the corpus lies in vitcheck's repository, in tests"
        )
    sys.path.insert(0, str(folder))  # it imports what lies beside it
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
