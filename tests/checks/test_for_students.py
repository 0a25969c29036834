"""What students may see of a result: the same however that ended which is kept from them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save
from test_points import CHECKS, SCHEMES, VIT, paying

from vitcheck.checks.points.scoring import scored
from vitcheck.checks.record.for_students import for_students
from vitcheck.checks.record.hint_rungs import Hints
from vitcheck.checks.record.result import (
    Asked,
    CheckResult,
    Evidence,
    MistakeResult,
    Note,
    Outcome,
    Result,
    Run,
    Score,
    StageResult,
    StageStatus,
    Status,
    Visibility,
)
from vitcheck.checks.record.written_result import AnswerResult, WrittenResult

IDS = [id for id, _ in CHECKS]
GROUPS = ("equations", "shapes", "invariants", "properties", "breakpoints")
MISTAKE = "softmax-over-queries"
TITLE = "Softmax over queries"


def record(ended: dict[str, Outcome], named: frozenset[str]) -> Result:
    """A submission whose checks passed but for these; those ``named`` give the mistake away."""
    checks: list[CheckResult] = []
    stages: dict[str, StageResult] = {}
    mistakes: list[MistakeResult] = []
    for id, label in CHECKS:
        outcome = ended.get(id, Outcome.PASSED)
        wrong = outcome is Outcome.FAILED and id in named
        message = (
            f"{TITLE}. Found by {id}." if wrong else f"Found by {id}." if outcome is Outcome.FAILED else ""
        )
        judges = not id.startswith(("breakpoint", "written"))
        checks.append(
            CheckResult(
                id=id, stage=label, title=id, outcome=outcome, points=0, earned=0, message=message,
                mistakes=[MISTAKE] if wrong else [], judges=judges,
            )
        )  # fmt: skip
        if label and judges:
            failed = outcome is Outcome.FAILED or (
                label in stages and stages[label].status is StageStatus.FAILED
            )
            if wrong:
                mistakes.append(
                    MistakeResult(id=MISTAKE, stage=label, kind="error", title=TITLE, hint=f"Look at {label}")
                )
            before = stages[label].message if label in stages else ""
            stages[label] = StageResult(
                key=label, title=label, axes="B", equation="", evidence=Evidence.OBSERVED, expected_shape=[1],
                status=StageStatus.FAILED if failed else StageStatus.PASSED, message=f"{before}{message}",
            )  # fmt: skip
    return Result(
        schema=1, submission="x", assignment=VIT.name, status=Status.GRADED,
        score=Score(earned=0, possible=0), stages=stages, checks=checks, mistakes=mistakes,
        notes=[Note(kind="asks", text="look at this")], run=Run(seed=0, seconds=0),
        written=WrittenResult(
            documents=[], answers=[AnswerResult(id="q1", question="?", rubric="the model answer", points=2)]
        ),
    )  # fmt: skip


OUTCOMES = st.sampled_from([Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.NOT_REACHED])
ENDED = st.dictionaries(st.sampled_from(IDS), OUTCOMES, max_size=12)
VISIBILITY = st.dictionaries(
    st.sampled_from([*GROUPS, "equation[S12]", "property[batch]"]),
    st.sampled_from(list(Visibility)),
    max_size=4,
)


@given(
    ended=ENDED,
    otherwise=ENDED,
    named=st.frozensets(st.sampled_from(IDS)),
    visibility=VISIBILITY,
    scheme=st.sampled_from(list(SCHEMES)),
    until=st.sampled_from(list(Visibility)),
)
@settings(max_examples=15, deadline=None)
def test_it_is_the_same_however_hidden_checks_ended(
    ended: dict[str, Outcome],
    otherwise: dict[str, Outcome],
    named: frozenset[str],
    visibility: dict[str, Visibility],
    scheme: str,
    until: Visibility,
) -> None:
    asked = paying(SCHEMES[scheme]).model_copy(update={"visibility": visibility})
    hidden = {id for id in IDS if not until.has(asked.visibility_of(id))}
    other = {id: one for id, one in ended.items() if id not in hidden}
    other |= {id: one for id, one in otherwise.items() if id in hidden}
    told, told_else = (for_students(scored(record(one, named), asked), until) for one in (ended, other))
    assert told == told_else
    assert not hidden & {one.id for one in told.checks}
    text = told.to_json()
    assert not any(f"Found by {id}." in text for id in hidden)
    assert "look at this" not in text
    assert "the model answer" not in text
    assert round(sum(one.earned for one in told.checks), 6) == told.score.earned


@given(ENDED, VISIBILITY, st.sampled_from(list(SCHEMES)))
@settings(max_examples=15, deadline=None)
def test_points_add_up_also_where_some_are_told_later(
    ended: dict[str, Outcome], visibility: dict[str, Visibility], scheme: str
) -> None:
    asked = paying(SCHEMES[scheme])
    whole = scored(record(ended, frozenset()), asked)
    result = scored(whole, asked.model_copy(update={"visibility": visibility}))
    assert result.score == whole.score
    assert round(sum(one.earned for one in result.checks), 6) == result.score.earned
    assert round(sum(one.points for one in result.checks), 6) == result.score.possible


def test_what_is_shown_of_a_stage_that_a_hidden_check_judges_is_its_own_finding() -> None:
    asked = VIT.model_copy(update={"visibility": {"equations": Visibility.HIDDEN}})
    ended = {"equation[S13]": Outcome.FAILED, "invariant[S13]": Outcome.FAILED}
    told = for_students(scored(record(ended, frozenset(ended)), asked))
    (shown,) = [one for one in told.checks if one.id == "invariant[S13]"]
    assert (shown.message, shown.mistakes, told.mistakes) == ("Found by invariant[S13].", [], [])
    assert "S13" not in told.stages


def test_arrays_of_such_a_stage_are_left_out() -> None:
    arrays = save(
        {"S12/student": np.ones(1, np.float32), "S13/student": np.zeros(1, np.float32)},
        {"stages": json.dumps({"S12": {}, "S13": {}})},
    )
    asked = VIT.model_copy(update={"visibility": {"equation[S12]": Visibility.HIDDEN}})
    told = for_students(scored(record({}, frozenset()).model_copy(update={"arrays": arrays}), asked))
    assert told.arrays is not None
    assert set(load(told.arrays)) == {"S13/student"}
    assert b"S12" not in told.arrays


def test_a_record_for_students_stays_one() -> None:
    asked = VIT.model_copy(update={"visibility": {"equations": Visibility.AFTER_DUE_DATE}})
    told = for_students(scored(record({}, frozenset()), asked))
    assert for_students(told, Visibility.HIDDEN) == told


RUNGS = {
    Hints.WHERE: set[str](),
    Hints.QUESTION: {"title", "hint"},
    Hints.TRY: {"title", "hint", "experiment"},
    Hints.EXPLAIN: {"title", "hint", "experiment", "explanation"},
}


@pytest.mark.parametrize(("lowest", "shown"), RUNGS.items())
def test_hints_go_down_to_the_rung_that_the_assignment_sets(lowest: Hints, shown: set[str]) -> None:
    whole = record({"equation[S13]": Outcome.FAILED}, frozenset({"equation[S13]"}))
    asked = Asked(known_as="vit", title="Any", hints=lowest)
    ladder = {"title": TITLE, "hint": "A hint?", "experiment": "An experiment.", "explanation": "All of it."}
    mistakes = [one.model_copy(update=ladder) for one in whole.mistakes]
    stages = {"S13": whole.stages["S13"].model_copy(update={"hint": "A hint?", "message": f"{TITLE}. Seen."})}
    whole = whole.model_copy(update={"asked": asked, "mistakes": mistakes, "stages": stages})
    told = for_students(whole).to_json()
    assert {name for name, text in ladder.items() if text in told} == shown
    assert (MISTAKE in told) is bool(shown)
    assert "Seen." in told
    assert all(text in whole.to_json() for text in ladder.values())
