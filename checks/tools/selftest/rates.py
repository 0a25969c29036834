"""Rates of what is said of generated programs: what is counted, and of which programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...record.result import Status
from . import saying
from .kept_rows import GradedProgram
from .program_verdict import GRADER_FAILED


@dataclass(frozen=True)
class Measure:
    """A rate: the programs of which ``holds`` is true, among those of which it is ``known``."""

    name: str
    holds: Callable[[GradedProgram], bool]
    better: Literal["more", "fewer", ""] = "more"  # "" where neither is
    known: Callable[[GradedProgram], bool] = lambda _: True


@dataclass(frozen=True)
class Rate:
    """How many of how many."""

    measure: Measure
    count: int
    total: int


def _built(row: GradedProgram) -> bool:
    """Of a part that could not be built the rest of a record is there all the same."""
    return row.told.graded and (not row.program.part or bool(row.told.located))


def _all_located(row: GradedProgram) -> bool:
    return row.told.graded and not row.told.unreached and {*row.program.has} <= {*row.told.located}


def _naming(word: str, better: Literal["more", "fewer", ""] = "more") -> Measure:
    return Measure(word, lambda row: saying.detected(row) and saying.naming(row) == word, better)


def _line(word: str, better: Literal["more", "fewer", ""] = "more") -> Measure:
    return Measure(word, lambda row: saying.detected(row) and saying.placed(row) == word, better)


_RIGHT = (
    Measure("built", _built),
    Measure("all stages located", _all_located),
    Measure("lost points", lambda row: row.told.lost > 0, "fewer"),
)
_WRONG = (
    Measure("detected", saying.detected),
    Measure(
        "first stage right",
        lambda row: saying.detected(row) and row.told.first_stage in row.program.stages,
        known=lambda row: bool(row.program.stages),
    ),
    _naming("named truly"),
    _naming("honestly unnamed", ""),
    _naming("named, unknown to us", ""),
    _naming("said falsely", "fewer"),
    Measure(
        "something right blamed", saying.blames_beside, "fewer", known=lambda row: bool(row.program.faulty)
    ),
    _line("line right"),
    _line("no line", ""),
    _line("line wrong", "fewer"),
    Measure(
        "proven", lambda row: bool(row.told.proven), known=lambda row: row.told.tried and saying.detected(row)
    ),
    Measure(
        "proven, and wrong",
        lambda row: not {*row.told.proven} & {*row.program.faulty},
        "fewer",
        known=lambda row: bool(row.told.proven and row.program.faulty),
    ),
    Measure("called unfinished", lambda row: row.told.unfinished, "fewer"),
)
_UNFINISHED = (
    Measure("told apart", lambda row: row.told.unfinished),
    Measure(
        "mistake told", saying.mistake_told, known=lambda row: bool(row.program.ids or row.program.stages)
    ),
)
_OWN = (
    Measure("the grader failed", lambda row: row.told.status == GRADER_FAILED, "fewer"),
    Measure("refused", lambda row: row.told.status == Status.REFUSED.value, "fewer"),
    Measure("timed out", lambda row: row.told.late, "fewer"),
)
MEASURES: Mapping[str, tuple[Measure, ...]] = {
    "right": (*_RIGHT, *_OWN),
    "part": (*_RIGHT, *_OWN),
    "wrong": (*_WRONG, *_OWN),
    "unfinished": (*_UNFINISHED, *_OWN),
    "odd": (*_RIGHT[:1], *_RIGHT[2:], *_OWN),  # what stands beside it may have stages as well
}


def rates(rows: Sequence[GradedProgram]) -> Mapping[str, Sequence[Rate]]:
    """The rates of each kind."""
    return {
        kind: [_rate(one, [row for row in rows if row.program.kind == kind]) for one in measures]
        for kind, measures in MEASURES.items()
    }


def _rate(measure: Measure, rows: Sequence[GradedProgram]) -> Rate:
    asked = [row for row in rows if measure.known(row)]
    return Rate(measure, sum(map(measure.holds, asked)), len(asked))


def causes(rows: Sequence[GradedProgram]) -> Sequence[tuple[str, Sequence[str]]]:
    """What went wrong with what was said, the most frequent first, each with the names of its programs."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if cause := saying.failure(row):
            found.setdefault(f"{row.program.kind}: {cause}", []).append(row.program.name)
    return sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
