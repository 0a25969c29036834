"""Classes of any size, drawn at random from the sample records."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from samples import STAGES, result, stage, stopped

from vitcheck.checks.record.result import MistakeResult, Result, StageStatus, Status

_STOPPED = tuple(one for one in Status if one is not Status.GRADED)
_SHARES = {"right": 55, "wrong": 37, "stopped": 8}  # in per cent
_MISTAKES = 12  # a stage


def drawn_class(size: int) -> Iterator[Result]:
    """Of ``size`` submissions; the same each time. One in thirteen wrong stages has no name."""
    random = Random(7)
    for number in range(size):
        yield _drawn(random, f"student-{number:04}")


def _drawn(random: Random, name: str) -> Result:
    (kind,) = random.choices([*_SHARES], [*_SHARES.values()])
    if kind == "stopped":
        return stopped(name, random.choice(_STOPPED), "the reason that the record gives, in a sentence")
    wrong = random.sample([*STAGES], random.choice((1, 1, 1, 2, 2, 5))) if kind == "wrong" else []
    return _with_wrong(random, name, sorted(wrong))


def _with_wrong(random: Random, name: str, wrong: list[str]) -> Result:
    """Every wrong stage costs 3.5 points of 100."""
    numbers = {label: random.randrange(_MISTAKES + 1) for label in wrong}
    mistakes = [
        MistakeResult(
            id=f"some-known-mistake-{label}-{number}", stage=label, kind="error", title="A thing", hint="?"
        )
        for label, number in numbers.items()
        if number
    ]
    stages = {label: stage(label, status=StageStatus.FAILED) for label in wrong}
    passed = result(name, stages=stages, mistakes=mistakes)
    earned = passed.score.earned - 3.5 * len(wrong)
    return passed.model_copy(update={"score": passed.score.model_copy(update={"earned": earned})})
