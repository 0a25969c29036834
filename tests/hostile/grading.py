"""Grading a hostile submission as ``vitcheck grade`` does, and what it must get."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from attacks.attack import LIMITS, Attack, Expected

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.result import Outcome, Result, StageStatus, Status
from vitcheck.reference.sizes import preset
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.limits import Limits

# for speed: few examples, and a model that is asked for at a small size
_ASSIGNMENT = load_assignment("vit-debugging").model_copy(update={"examples": 2, "full": preset("S/32")})
_SEED = 3
_NO_WORDS: Mapping[str, str] = MappingProxyType({})


def graded(attack: Attack, folder: Path, zygote: Zygote, words: Mapping[str, str] = _NO_WORDS) -> Result:
    """The record of the attack's program, written below ``folder`` with ``words`` replaced in it."""
    path, text = folder / "vit.py", attack.source()
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    path.write_text(text, encoding="utf-8")
    return graded_at(path, zygote, attack.limits)


def graded_at(path: Path, zygote: Zygote, limits: Limits = LIMITS) -> Result:
    """The record of what was handed in at ``path``."""
    return grade(path, _ASSIGNMENT.model_copy(update={"limits": limits}), zygote=zygote, seed=_SEED)


def met(expected: Expected, result: Result) -> None:
    """Assert that a record is as it is expected."""
    assert result.status is Status(expected.status), result.reason
    assert expected.reason in (result.reason or "")
    assert expected.least <= result.score.earned <= expected.most
    if result.status is not Status.GRADED:
        assert result.reason
    if result.status not in (Status.GRADED, Status.NOT_LOADED):
        assert result.score.earned == 0
    for label in expected.failed:
        assert result.stages[label].status is not StageStatus.PASSED
    outcomes = {one.id: one for one in result.checks}
    for id, message in expected.checks:
        assert outcomes[id].outcome is not Outcome.PASSED
        assert message in outcomes[id].message
    assert expected.note in " ".join(one.text for one in result.notes)
    assert Result.from_json(result.to_json(), result.arrays) == result
