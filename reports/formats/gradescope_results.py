"""Gradescope's ``results.json``: a test for each stage, which shows no more than the assignment lets it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

from ...checks.record.for_students import for_students
from ...checks.record.result import CheckResult, Result, Visibility
from ..pages.html import render
from ..views.card import card
from ..words.assigned import assigned
from ..words.standing import Standing, findings, standing
from ..words.text import NAME_LIMIT, clean, one_line
from ..words.wording import say
from .repository import Repository


def gradescope(result: Result, _: Repository) -> str:
    """The document, as https://gradescope-autograders.readthedocs.io/en/latest/specs/ says.

    Checks of a stage that are shown at different times are different tests, each made of the record that
    students may have by then: what explains a stage stands in the first in which all of it may be told.
    """
    document = {
        "score": result.score.earned,
        "execution_time": round(result.run.seconds),
        "output": _output(for_students(result)),
        "output_format": "html",
        "test_output_format": "html",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "tests": _tests(result),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _output(told: Result) -> str:
    """HTML, said to everyone at once: the card of the first thing wrong, and a line for each other."""
    stands, others = standing(told), list(findings(told))[1:]
    later = say("for_students.later") if told.later else ""
    return render(
        "gradescope.html", assignment=assigned(told), card=card(told, stands), more=others, later=later
    )


def _tests(result: Result) -> list[dict[str, object]]:
    """Sorted by stage and then by when they are shown."""
    titles = {label: one_line(stage.title) for label, stage in result.stages.items()}
    explained: set[str] = set()
    found = []
    for until in Visibility:
        told = for_students(result, until)
        shown = [one for one in told.checks if one.visibility is until and (one.points or one.earned)]
        shown.sort(key=lambda one: (one.stage is None, one.part))
        faults = {one.label: one for one in findings(told) if one.label and one.label not in explained}
        for part, checks in groupby(shown, key=lambda one: one.part):
            explained |= faults.keys() & {part}
            found.append((part, _test(part, titles.get(part, ""), [*checks], told, faults.get(part))))
    return [test for _, test in sorted(found, key=lambda one: (one[0] not in titles, one[0]))]


def _test(
    part: str, title: str, checks: Sequence[CheckResult], told: Result, explained: Standing | None
) -> dict[str, object]:
    """``explained`` is what is wrong with the part, where that stands here."""
    until, wrong = checks[0].visibility, [one for one in checks if one.costs]
    when = "" if until is Visibility.VISIBLE else say(f"gradescope.{until.value}")
    fault = f": {explained.claim}" if explained else ""
    output = render(
        "gradescope_test.html",
        card=card(told, explained) if explained else None,
        more=[],
        lines=[f"{one_line(one.title)} {clean(one.message)}".strip() for one in wrong],
    )
    return {
        "name": one_line(f"{f'{part} {title}'.strip()}{when}{fault}", NAME_LIMIT),
        "score": round(sum(one.earned for one in checks), 2),
        "max_score": round(sum(one.points for one in checks), 2),
        "status": "failed" if wrong else "passed",
        "output": output.strip(),
        "visibility": until.value,
    }
