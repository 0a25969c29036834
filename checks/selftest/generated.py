"""Programs that a generator makes: what is known of one, and what vitcheck says of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ..result import CheckResult, Outcome, Result, StageStatus, Status
from .cases import corpus

KINDS = ("right", "wrong", "unfinished", "odd")
_UNFINISHED = re.compile(
    r"unfinished|not finished|not implemented|notimplemented|ends too early|no return|returns None"
)


@dataclass(frozen=True)
class Generated:
    """A program, and what is known of it by construction and by measurement."""

    name: str
    kind: str
    files: Mapping[str, bytes]
    sizes: Mapping[str, int]  # of the model, as an assignment file calls them
    raises: bool = False
    stages: tuple[str, ...] = ()  # labels; the first fault is at one of them
    ids: tuple[str, ...] = ()  # of the mistakes that it makes; empty where the catalogue has none
    lines: tuple[int, ...] = ()  # of the mistakes


@dataclass(frozen=True)
class Told:
    """What a result says of a program, as far as it is counted."""

    status: str
    lost: float = 0.0
    located: bool = False  # every stage was reached
    stages: tuple[str, ...] = ()  # labels of those that are wrong
    named: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    line: int | None = None  # the first that is shown
    unfinished: bool = False  # it says that something is not written yet
    cause: str = ""  # the first thing that costs points, without what differs from program to program

    @property
    def complains(self) -> bool:
        return self.status != Status.GRADED.value or bool(self.stages or self.named or self.lost)


Maker: TypeAlias = Callable[[str, str, int], Generated]


def told(result: Result) -> Told:
    """What is counted of a result."""
    wrong = [one for one in result.stages.values() if one.status is StageStatus.FAILED]
    failed = [
        one for one in result.checks if one.outcome in (Outcome.FAILED, Outcome.ERRORED, Outcome.TIMED_OUT)
    ]
    places = [result.location, *(one.location for one in result.mistakes), *(one.location for one in wrong)]
    texts = [result.reason, *(one.message for one in wrong), *(one.message for one in failed)]
    return Told(
        status=result.status.value,
        lost=round(result.score.possible - result.score.earned, 2),
        located=bool(result.stages) and not any(_missing(one.status) for one in result.stages.values()),
        stages=tuple(label for label, one in result.stages.items() if one.status is StageStatus.FAILED),
        named=tuple(one.id for one in result.mistakes),
        variants=tuple(one.id for one in result.variants),
        line=next((place.line for place in places if place is not None), None),
        unfinished=any(_UNFINISHED.search(text) for text in texts if text),
        cause=_cause(result, failed),
    )


def _missing(status: StageStatus) -> bool:
    return status is StageStatus.NOT_REACHED


def _cause(result: Result, failed: list[CheckResult]) -> str:
    """In words that are the same for programs that differ in names and numbers alone."""
    if result.status is not Status.GRADED:
        return f"{result.status.value}: {_common(result.reason or '')}"
    if result.mistakes:
        first = result.mistakes[0]
        return f"{first.stage} {first.id}".strip()
    costing = [one for one in failed if one.points]
    return f"{costing[0].id}: {_common(costing[0].message)}" if costing else ""


def _common(text: str) -> str:
    said = re.sub(r"'[^']*'|\"[^\"]*\"|\b\w+\.(py|ipynb)\b|\d+(\.\d+)?", "…", text.split("\n")[0])
    return said[:120]


def load_maker(folder: Path) -> Maker:
    """The generator of a corpus: ``generated`` in its ``selftest_cases.py``, of a kind, a seed and a number.

    Raises ValueError where there is none.
    """
    maker: Maker = corpus(folder).generated
    return maker
