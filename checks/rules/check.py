"""One check of a submission, and those that an architecture asks for, from the files in ``kinds``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from ...reference.stages import Stage
from ..architecture.family import Family
from ..assignment.kinds import Kind, kinds
from ..examining.examination import Examination


@dataclass(frozen=True)
class Check:
    """What grading a submission ends with; ``run`` raises what ``verdicts`` lists where it did not pass."""

    id: str
    stage: str | None  # key
    title: str
    run: Callable[[Examination], None]


def checks_of(family: Family) -> list[Check]:
    """Every check of a whole model of this architecture, in order."""
    modules = [import_module(kind.module) for kind in kinds().values() if kind.module]
    return [check for module in modules for check in module.checks(family)]


def once(kind: Kind, look: Callable[[Examination], None]) -> Iterator[Check]:
    """A check of the whole submission."""
    yield Check(kind.id, None, kind.title, look)


def each_stage(
    kind: Kind, look: Callable[[Examination, str], None], stages: Iterable[Stage]
) -> Iterator[Check]:
    """A check for each of these stages; it is told the stage's key."""
    for stage in stages:
        run = partial(_look, look, stage.key)
        yield Check(f"{kind.id}[{stage.label}]", stage.key, kind.title, run)


def each_name(kind: Kind, look: Callable[[Examination, str], None], names: Iterable[str]) -> Iterator[Check]:
    """A check for each of these; it is told the name."""
    for name in names:
        yield Check(f"{kind.id}[{name}]", None, kind.title, partial(_look, look, name))


def _look(look: Callable[[Examination, str], None], about: str, examination: Examination) -> None:
    look(examination, about)
