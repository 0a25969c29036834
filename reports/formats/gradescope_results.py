"""Gradescope's ``results.json``: a test for each stage, which shows no more than the assignment lets it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...checks.record.for_students import for_students
from ...checks.record.grade import grade
from ...checks.record.result import Result
from ..pages.html import render
from ..views.card import card
from ..words.assigned import assigned
from ..words.remarks import remark
from ..words.standing import findings, standing
from ..words.text import NAME_LIMIT, TEXT_LIMIT, one_line
from ..words.wording import say
from .parts import Part, parts
from .repository import Repository

_Test = dict[str, object]


def gradescope(result: Result, _: Repository) -> str:
    """The document, as https://gradescope-autograders.readthedocs.io/en/latest/specs/ says.

    The scores of its tests add up to the grade, and what they are worth to the points possible.
    """
    document = {
        "score": grade(result).earned,
        "execution_time": round(result.run.seconds),
        "output": _output(for_students(result)),
        "output_format": "html",
        "test_output_format": "html",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "tests": [*map(_test, parts(result)), *_answers(result), *_adjustment(result)],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _output(told: Result) -> str:
    """HTML, said to everyone at once: the card of the first thing wrong, and a line for each other."""
    stands, others = standing(told), list(findings(told))[1:]
    later = say("for_students.later") if told.later else ""
    return render(
        "gradescope.html", assignment=assigned(told), card=card(told, stands), more=others, later=later
    )


def _test(part: Part) -> _Test:
    output = render(
        "gradescope_test.html",
        card=card(part.told, part.fault) if part.fault else None,
        more=[],
        lines=[one_line(f"{one.title} {one.message}", TEXT_LIMIT) for one in part.wrong],
    )
    return {
        "name": part.name,
        "score": part.earned,
        "max_score": part.points,
        "status": "failed" if part.wrong else "passed",
        "output": output.strip(),
        "visibility": part.visibility.value,
    }


def _answers(result: Result) -> Iterator[_Test]:
    """What a person gives points for, with those that were given."""
    for one in result.written.answers if result.written else ():
        if one.points:
            mark = result.adjustment.marks.get(one.id)
            yield {
                "name": one_line(f"{one.id}: {one.question}", NAME_LIMIT),
                "score": mark or 0.0,
                "max_score": one.points,
                "output": say("part.to_mark") if mark is None else "",
                "visibility": "visible",
            }


def _adjustment(result: Result) -> Iterator[_Test]:
    """What was decided beside marks."""
    change = result.adjustment.change(result.score.earned)
    if change:
        yield {
            "name": say("part.adjustment"),
            "score": change,
            "max_score": 0,
            "output": remark(result.adjustment),
            "visibility": "visible",
        }
