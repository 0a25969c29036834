"""The record says what was found: stages, points, mistakes, variants."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest
from examining import BRIEF, examine, located

from vitcheck.checks.assignment.assignment import Assignment
from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.verdicts import CheckOutcome
from vitcheck.checks.grading.assembling import graded
from vitcheck.checks.grading.not_graded import Notes, not_graded
from vitcheck.checks.grading.running import run_checks
from vitcheck.checks.record.result import Evidence, Outcome, Result, Run, StageStatus, Status
from vitcheck.submissions.errors import Frame, TimedOut
from vitcheck.submissions.questions.loading import Skipped

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text("utf-8"))
RUN = Run(seed=1, seconds=0)


def record(examination: Examination, outcomes: Sequence[CheckOutcome] | None = None) -> Result:
    outcomes = run_checks(examination) if outcomes is None else outcomes
    result = graded("ann", examination, outcomes, Notes(), RUN)
    jsonschema.validate(json.loads(result.to_json()), SCHEMA)
    return result


@pytest.fixture(scope="module")
def right() -> Examination:
    return examine("report")


@pytest.fixture(scope="module")
def unscaled() -> Result:
    return record(examine("report-scale-missing"))


def test_right_code_gets_all_points(right: Examination) -> None:
    result = record(right)
    assert (result.score.earned, result.score.possible) == (100, 100)
    assert {one.status for one in result.stages.values()} == {StageStatus.PASSED}
    assert list(result.stages) == [f"S{number:02}" for number in range(1, 27)]
    assert (result.mistakes, result.architecture) == ([], "report")


def test_a_wrong_stage_says_what_is_wrong_and_where(unscaled: Result) -> None:
    failed = {label for label, one in unscaled.stages.items() if one.status is StageStatus.FAILED}
    assert failed == {"S12"}
    stage = unscaled.stages["S12"]
    assert (stage.mistakes[0], stage.evidence) == ("scale-missing", Evidence.OBSERVED)
    assert stage.hint
    assert stage.location is not None
    assert "attn_scores = " in next(one.text for one in stage.location.excerpt if one.marked)
    assert (stage.max_error or 0) > (stage.tolerance or 1)
    assert stage.expected_shape == [1, 12, 197, 197]
    assert stage.values is not None
    assert stage.expected_values is not None
    assert stage.values != stage.expected_values
    assert (stage.values_of or "").startswith("image 0, head 0, rows 0–3")


def test_a_mistake_is_listed_once_with_its_blocks(unscaled: Result) -> None:
    (mistake,) = unscaled.mistakes
    assert (mistake.id, mistake.stage, mistake.blocks) == ("scale-missing", "S12", "all blocks")


def test_a_mistake_of_a_property_is_named_where_no_stage_is_wrong() -> None:
    result = record(examine("report-state-leak"))
    assert [one.id for one in result.mistakes] == ["state-leak"]


def outcomes(**ended: str) -> list[CheckOutcome]:
    return [CheckOutcome(name.replace("_", "-"), None, "", outcome) for name, outcome in ended.items()]


def shared(**points: float) -> Assignment:
    empty = dict.fromkeys(("shapes", "equations", "invariants", "properties", "breakpoints", "prints"), 0)
    return BRIEF.model_copy(update={"points": BRIEF.points.model_copy(update={**empty, **points})})


@pytest.mark.parametrize(
    ("points", "ended", "score"),
    [
        ({"equations": 30, "prints": 10}, ("passed", "passed", "failed", "passed"), (30, 40)),
        ({"equations": 30, "prints": 10}, ("not asked", "passed", "failed", "passed"), (26.67, 40)),
        ({"equations": 30, "prints": 10}, ("not asked", "not asked", "not asked", "passed"), (40, 40)),
        ({"equations": 30, "prints": 10}, ("not asked", "not asked", "not asked", "not asked"), (0, 40)),
        ({"equations": 30, "prints": 10}, ("skipped", "passed", "passed", "passed"), (30, 40)),
        ({"equations": 30, "prints": 10}, ("skipped", "skipped", "skipped", "passed"), (10, 40)),
        ({"equations": 10, "prints": 0}, ("passed", "passed", "passed", "failed"), (10, 10)),
        ({"equations": 100, "prints": 0}, ("errored", "timed_out", "not_reached", "passed"), (0, 100)),
    ],
)
def test_points_of_checks_that_are_not_asked_go_to_the_others(
    right: Examination, points: dict[str, float], ended: tuple[str, ...], score: tuple[float, float]
) -> None:
    ids = ("equation[S12]", "equation[S13]", "equation[S14]", "prints")
    found = [
        CheckOutcome(id, None, "", "skipped", asked=False)
        if outcome == "not asked"
        else CheckOutcome(id, None, "", outcome)
        for id, outcome in zip(ids, ended)
    ]
    examination = located(Examination(right.source, right.session, shared(**points), 1))
    result = record(examination, found)
    assert (result.score.earned, result.score.possible) == score


def test_thirds_of_points_add_up(right: Examination) -> None:
    ids = [f"equation[S{number}]" for number in range(10, 25)] + [
        f"shape[S{number}]" for number in range(10, 17)
    ]
    examination = located(Examination(right.source, right.session, shared(equations=50, shapes=50), 1))
    result = record(examination, [CheckOutcome(id, None, "", "passed") for id in ids])
    assert (result.score.earned, result.score.possible) == (100, 100)


def test_checks_of_an_instructor_are_worth_what_the_assignment_says(right: Examination) -> None:
    found = outcomes(prints="passed", **{"own.width": "failed"})
    examination = located(Examination(right.source, right.session, shared(prints=6, own=4), 1))
    result = record(examination, found)
    assert (result.score.earned, result.score.possible) == (6, 10)


def test_a_variant_is_recorded_with_what_the_assignment_says_of_it() -> None:
    edit = ("self.act = nn.GELU()", "self.act = nn.ReLU()")
    strict = record(examine("report", edit))
    variant = strict.variants[0]
    assert (variant.id, variant.stage, variant.allowed) == ("relu-instead-of-gelu", "S17", False)
    assert variant.reason
    lenient = BRIEF.variants.model_copy(update={"by_id": {}})
    examination = examine("report", edit, assignment=BRIEF.model_copy(update={"variants": lenient}))
    result = record(examination)
    assert [(one.id, one.allowed) for one in result.variants] == [
        ("relu-instead-of-gelu", True),
        ("returns-tuple-or-dict", True),  # no stage shows it
    ]
    assert result.stages["S17"].status is StageStatus.PASSED
    assert result.mistakes == []


def test_after_a_crash_the_stages_before_it_are_judged_and_the_others_not_reached() -> None:
    result = record(examine("report", ("logits = self.head(cls_rep)", "logits = self.head(cls_rep.T)")))
    statuses = {label: one.status for label, one in result.stages.items()}
    assert {statuses[f"S{number:02}"] for number in range(1, 21)} == {StageStatus.PASSED}
    assert statuses["S26"] is StageStatus.NOT_REACHED
    assert any("RuntimeError: " in one.message for one in result.checks)
    assert 0 < result.score.earned < 100
    assert not [one for one in result.checks if one.outcome is Outcome.ERRORED]


def test_what_nothing_explains_is_measured_in_the_stage() -> None:
    probs = "attn_probs = attn_scores.softmax(dim=-1)"
    result = record(examine("report", (probs, f"{probs} * 1.37")))
    stage = result.stages["S13"]
    assert stage.status is StageStatus.FAILED
    assert stage.mistakes == []
    assert "1.37 times what the equation gives" in (stage.message or "")


def test_numbers_that_are_not_finite_have_a_place_in_the_record() -> None:
    probs = "attn_probs = attn_scores.softmax(dim=-1)"
    result = record(examine("report", (probs, f"{probs} / 0.0")))
    assert result.stages["S14"].status is not StageStatus.PASSED  # where 0 times infinity is none
    assert result.score.earned < 100


def test_what_could_not_be_graded_says_why_and_where(right: Examination) -> None:
    notes = Notes((Skipped("report.py", 3, "import torch", "it is not installed"),), ("a guess",))
    error = TimedOut("it took too long", Frame("report.py", 2))
    result = not_graded("ann", BRIEF, error, right.source, notes, RUN)
    assert (result.status, result.reason) == (Status.TIMED_OUT, "it took too long")
    assert result.location is not None
    assert result.location.excerpt[1].marked
    assert (result.score.earned, result.score.possible) == (0, 100)
    assert [one.kind for one in result.notes] == ["inferred", "skipped"]
    assert result == Result.from_json(result.to_json(), result.arrays)
