"""Gradebooks for the tests: of both kinds, filled with results that cost nothing."""

from __future__ import annotations

from vitcheck.checks.classes.gradebook.store import Gradebook
from vitcheck.checks.classes.gradebook.work import Work
from vitcheck.checks.record.adjustment import Adjustment
from vitcheck.checks.record.result import Result, Run, Score, Status

CLASS = {"ann": "a1", "bob": "b1", "cleo": "c1"}


def work(
    contents: dict[str, str] | None = None,
    *,
    seed: int | None = None,
    forced: bool = False,
    digest: str = "d",
    isolation: str = "auto",
) -> Work:
    return Work("vit-debugging", digest, digest, contents or CLASS, "1.0", isolation, seed, forced)


def result(name: str, earned: float = 80.0) -> Result:
    return Result(
        schema=1,
        submission=name,
        assignment="vit-debugging",
        status=Status.GRADED,
        score=Score(earned=earned, possible=100),
        run=Run(seed=7, seconds=0),
    )


def adjustments(book: Gradebook) -> dict[str, Adjustment]:
    return {name: one.adjustment for name, one in book.decisions("vit-debugging").items()}
