"""Gradescope's ``results.json``: a test for each stage, which shows no more than the assignment lets it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby

from ...checks.record.result import CheckResult, Outcome, Result, Status, Visibility
from ..pages.html import render
from ..views.card import card, told_alone
from ..words.assigned import assigned
from ..words.quoting import begun, code_lines, quoted
from ..words.standing import Standing, findings, standing
from ..words.text import clean, one_line
from ..words.wording import say
from .repository import Repository

_ORDER = list(Visibility)
_Key = tuple[str, Visibility]


def gradescope(result: Result, _: Repository) -> str:
    """The document, as https://gradescope-autograders.readthedocs.io/en/latest/specs/ says.

    Checks of a stage that are shown at different times are different tests. What explains a stage stands in
    the test that is shown last of those that failed, so that none tells what another one hides.
    """
    document = {
        "score": result.score.earned,
        "execution_time": round(result.run.seconds),
        "output": _output(result),
        "output_format": "html",
        "test_output_format": "text",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "tests": _tests(result),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _output(result: Result) -> str:
    """HTML, said to everyone at once: the card of the first thing wrong, and a line for each other.

    Where some checks are shown later, no more than that.
    """
    stands, others = standing(result), list(findings(result))[1:]
    later = any(one.visibility is not Visibility.VISIBLE for one in result.checks)
    shown = card(result, stands)
    if later and result.status is Status.GRADED:
        shown, others = told_alone(say("gradescope.later")), []
    return render("gradescope.html", assignment=assigned(result), card=shown, more=others)


def _tests(result: Result) -> list[dict[str, object]]:
    asked = [one for one in result.checks if one.outcome is not Outcome.SKIPPED and one.points]
    sum_asked = sum(one.points for one in asked)
    scale = result.score.possible / sum_asked if sum_asked else 0.0  # points of what was skipped go to all
    explained = {one.label: one for one in findings(result) if one.label}
    ordered = sorted(asked, key=lambda one: (one.stage is None, one.part, _ORDER.index(one.visibility)))
    groups = {key: list(checks) for key, checks in groupby(ordered, key=_key)}
    told = _told_in(groups)
    return [
        _test(result, key, checks, scale, explained.get(key[0]) if told.get(key[0]) is key[1] else None)
        for key, checks in groups.items()
    ]


def _key(check: CheckResult) -> _Key:
    return check.part, check.visibility


def _told_in(groups: Mapping[_Key, Sequence[CheckResult]]) -> dict[str, Visibility]:
    """The strictest of the tests of each part in which something failed, which are in order."""
    return {part: seen for (part, seen), checks in groups.items() if any(one.costs for one in checks)}


def _test(
    result: Result, key: _Key, checks: Sequence[CheckResult], scale: float, explained: Standing | None
) -> dict[str, object]:
    part, visibility = key
    wrong = [one for one in checks if one.costs]
    lines = [begun(f"{one_line(one.title)} {clean(one.message)}".strip()) for one in wrong]
    stage = result.stages.get(part)
    return {
        "name": one_line(f"{part} {stage.title}" if stage else part),
        "score": round(scale * sum(one.earned for one in checks), 2),
        "max_score": round(scale * sum(one.points for one in checks), 2),
        "status": "failed" if wrong else "passed",
        "output": "\n\n".join([*(_explained(explained) if explained else ()), *lines]),
        "visibility": visibility.value,
    }


def _explained(stands: Standing) -> list[str]:
    """What is wrong, where, and the question that leads on."""
    sentence = quoted(stands.sentence) if stands.quotes else stands.sentence
    return [text for text in (sentence, "\n".join(code_lines(stands.place)), stands.question) if text]
