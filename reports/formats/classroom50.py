"""The points of a submission as autograders of Classroom 50 give them."""

from __future__ import annotations

import json

from ...checks.record.grade import grade
from ...checks.record.result import Result
from ..words.standing import standing
from .parts import parts
from .repository import Repository


def classroom50(result: Result, _: Repository) -> str:
    """The part of ``result.json`` that tells of the grade: whole points, and a test for each part.

    The rest is what its runner knows: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding.
    Points there are whole: those of all tests are rounded so that their sums are the rounded sums.
    """
    found = parts(result)
    scores = _whole([one.earned for one in found])
    possible = _whole([one.points for one in found])
    tests = [
        {"test-name": one.name, "passed": not one.wrong, "score": score, "max-score": most}
        for one, score, most in zip(found, scores, possible, strict=True)
    ] or [_stopped(result)]
    document = {
        "score": sum(int(str(one["score"])) for one in tests),
        "max-score": sum(int(str(one["max-score"])) for one in tests),
        "tests": tests,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _whole(amounts: list[float]) -> list[int]:
    total, given, whole = 0.0, 0, []
    for one in amounts:
        total += one
        whole.append(round(total) - given)
        given += whole[-1]
    return whole


def _stopped(result: Result) -> dict[str, object]:
    most = round(grade(result).possible)
    return {"test-name": standing(result).heading, "passed": False, "score": 0, "max-score": most}
