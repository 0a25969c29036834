"""One check of a submission, and how a function becomes the checks of a kind.

Each file in ``kinds`` has one such function. Its docstring is the title of its checks, and after "Else:"
comes their heading where they fail; where they are about a stage, its name is put in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from inspect import cleandoc
from typing import TypeVar

from ...reference.stages import Stage
from ..architecture.family import Family
from ..assignment.kinds import Kind, kinds
from ..examining.examination import Examination

About = TypeVar("About")
OfAll = Callable[[Examination], None]
OfOne = Callable[[Examination, About], None]


@dataclass(frozen=True)
class Check:
    """What grading a submission ends with; ``run`` raises what ``verdicts`` lists where it did not pass."""

    id: str
    stage: str | None  # key
    title: str
    run: OfAll
    failing: str = ""  # its heading where it fails; without one it is told by its title


_FOUND: dict[str, Callable[[Family], list[Check]]] = {}


def checks_of(family: Family) -> list[Check]:
    """Every check of a whole model of this architecture, in order."""
    ours = [kind for kind in kinds().values() if kind.module]
    for kind in ours:
        import_module(kind.module)
    return [check for kind in ours for check in _FOUND[kind.id](family)]


def once(kind: Kind) -> Callable[[OfAll], OfAll]:
    """Makes a function a check of the whole submission."""

    def found(look: OfAll) -> OfAll:
        _FOUND[kind.id] = lambda family: [_check(kind.id, None, look, look)]
        return look

    return found


def _all_but_the_input(family: Family) -> Iterable[Stage]:
    return family.stages[1:]


def each_stage(
    kind: Kind, stages: Callable[[Family], Iterable[Stage]] = _all_but_the_input
) -> Callable[[OfOne[str]], OfOne[str]]:
    """Makes a function of a stage's key a check of each of these stages."""

    def found(look: OfOne[str]) -> OfOne[str]:
        _FOUND[kind.id] = lambda family: [
            _check(f"{kind.id}[{one.label}]", one.key, look, partial(_look, look, one.key))
            for one in stages(family)
        ]
        return look

    return found


def each_of(
    kind: Kind, rows: Callable[[Family], Mapping[str, About]]
) -> Callable[[OfOne[About]], OfOne[About]]:
    """Makes a function a check of each of these, by name; what is a function itself has its own title."""

    def found(look: OfOne[About]) -> OfOne[About]:
        _FOUND[kind.id] = lambda family: [
            _check(f"{kind.id}[{name}]", None, one if callable(one) else look, partial(_look, look, one))
            for name, one in rows(family).items()
        ]
        return look

    return found


def _look(look: OfOne[About], about: About, examination: Examination) -> None:
    look(examination, about)


def _check(id: str, stage: str | None, described: object, run: OfAll) -> Check:
    title, failing = title_and_heading(described)
    return Check(id, stage, title, run, failing)


def title_and_heading(described: object) -> tuple[str, str]:
    """What the docstring of a function says of a check: its title, and its heading where it fails."""
    title, _, failing = cleandoc(described.__doc__ or "").partition("\n\nElse:")
    return title.strip(), " ".join(failing.split())
