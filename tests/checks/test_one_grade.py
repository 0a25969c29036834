"""One file has one grade, wherever it is read, and its parts add up to it."""

from __future__ import annotations

import csv
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_for_students import ENDED, VISIBILITY, record
from test_points import SCHEMES, VIT, paying

import vitcheck.apart
from vitcheck.checks.assignment.asked_writing import WrittenPart, WrittenQuestion
from vitcheck.checks.assignment.assignment import Assignment
from vitcheck.checks.points.scoring import scored
from vitcheck.checks.record.adjustment import Adjustment
from vitcheck.checks.record.grade import decided, grade, of_checks
from vitcheck.checks.record.result import Outcome, Result, Visibility
from vitcheck.reports.formats import FORMATS
from vitcheck.reports.formats.grade_tables import grades_csv
from vitcheck.reports.formats.repository import Repository
from vitcheck.reports.pages.html import render_report
from vitcheck.reports.views.summaries import summaries
from vitcheck.reports.words.text import points

QUESTIONS = {"q1": 2.0, "q2": 1.5}
WRITTEN = WrittenPart(
    questions={id: WrittenQuestion(text="Why?", points=one) for id, one in QUESTIONS.items()}
)
AMOUNT = st.floats(-20, 20).map(lambda one: round(one, 3))


@st.composite
def assignments(draw: st.DrawFn) -> Assignment:
    asked = paying(draw(st.sampled_from(list(SCHEMES.values()))))
    out_of = draw(st.sampled_from([None, 10.0, 20.0, 33.0]))
    return asked.model_copy(
        update={
            "written": WRITTEN if draw(st.booleans()) else None,
            "visibility": draw(VISIBILITY),
            "points": asked.points.model_copy(update={"out_of": out_of}),
        }
    )


@st.composite
def results(draw: st.DrawFn) -> Result:
    """Of random assignments, with random outcomes and decisions."""
    asked, ended = draw(assignments()), draw(ENDED)
    found = record(ended, draw(st.frozensets(st.sampled_from(sorted(ended) or ["equation[S12]"]))))
    answers = [one.model_copy(update={"id": id}) for id in QUESTIONS for one in found.written.answers]  # type: ignore[union-attr] # which this record has
    written = found.written and found.written.model_copy(update={"answers": answers})
    found = scored(found.model_copy(update={"written": written if asked.written else None}), asked)
    marked = st.fixed_dictionaries({}, optional={id: st.floats(0, most) for id, most in QUESTIONS.items()})
    return decided(
        found,
        Adjustment(
            delta=draw(AMOUNT),
            override=draw(st.none() | st.floats(0, 120).map(lambda one: round(one, 3))),
            marks=draw(marked) if asked.written else {},
        ),
    )


@given(results())
@settings(max_examples=15, deadline=None)
def test_every_output_has_the_same_grade_and_parts_that_add_up_to_it(result: Result) -> None:
    counts, possible = grade(result).earned, result.score.possible
    document = json.loads(FORMATS["gradescope"](result, Repository()))
    assert document["score"] == counts
    assert sum(one["score"] for one in document["tests"]) == pytest.approx(counts, abs=0.006)
    assert sum(one["max_score"] for one in document["tests"]) == pytest.approx(possible, abs=1e-6)
    names = [one["name"] for one in document["tests"]]
    assert len(set(names)) == len(names)

    worth, row = csv.DictReader(grades_csv(summaries([result])).splitlines())
    assert (row["score"], worth["score"]) == (points(counts), points(possible))
    cells = [cell for name, cell in row.items() if name not in ("submission", "status", "score", "remark")]
    assert sum(map(float, filter(None, cells))) == pytest.approx(counts, abs=0.006)

    if result.later or any(one.visibility is not Visibility.VISIBLE for one in result.checks):
        return  # what follows is of what students see
    outputs = FORMATS["github-outputs"](result, Repository()).splitlines()
    assert outputs[:2] == [f"score={points(counts)}", f"possible={points(possible)}"]
    (shown,) = re.findall(r'<p class="score">([\d.]+) of', render_report(result))
    assert shown == points(counts)


@given(results())
@settings(max_examples=15, deadline=None)
def test_notebook_graders_give_the_points_of_the_checks(result: Result) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vitcheck.apart, "_graded", lambda file, assignment: result)
        cases = vitcheck.apart.cases("hw3.ipynb")
        share = vitcheck.apart.earned("hw3.ipynb", 1000)
    whole = of_checks(result)
    assert sum(one.points for one in cases if not one.message) == pytest.approx(whole.earned, abs=1e-6)
    assert sum(one.points for one in cases) == pytest.approx(whole.possible, abs=1e-6)
    assert len({one.name for one in cases}) == len(cases)
    assert share == pytest.approx(1000 * whole.earned / whole.possible, abs=0.006)


@pytest.mark.parametrize("written", [None, WRITTEN])
def test_all_points_may_be_out_of_twenty(written: WrittenPart | None) -> None:
    asked = paying(SCHEMES["severity"].model_copy(update={"out_of": 20.0}))
    asked = asked.model_copy(update={"written": written})
    right, by_hand = scored(record({}, frozenset()), asked), asked.possible_by_hand
    assert (right.score.possible, right.score.earned, asked.possible) == (20, 20 - by_hand, 20)
    wrong = scored(record({"equation[S13]": Outcome.FAILED}, frozenset({"equation[S13]"})), asked)
    assert wrong.score.earned == pytest.approx(0.88 * (20 - by_hand), abs=0.01)
    assert VIT.possible == 100
