"""The card of the first thing wrong, and the lines of what else is."""

from __future__ import annotations

import json
import re

import pytest
from markupsafe import escape
from records import record
from samples import a_class, all_passed, check, not_loaded, result, scaled_by_embed_dim, stage

from vitcheck.checks.record.result import (
    CheckResult,
    MistakeResult,
    Outcome,
    Result,
    StageStatus,
    VariantResult,
)
from vitcheck.reports.formats import FORMATS
from vitcheck.reports.formats.repository import Repository
from vitcheck.reports.views.card import Card, card
from vitcheck.reports.views.findings_view import further_findings
from vitcheck.reports.views.stage_views import stage_views
from vitcheck.reports.views.strip import grouped, strip
from vitcheck.reports.words.standing import findings, standing


def card_of(result: Result) -> Card:
    return card(result, standing(result))


def of_model(name: str, message: str, *mistakes: str) -> CheckResult:
    return CheckResult(
        id=f"property[{name}]",
        stage=None,
        title="It holds.",
        outcome=Outcome.FAILED,
        points=1,
        earned=0,
        message=message,
        mistakes=list(mistakes),
    )


def test_the_mistake_is_the_heading_and_its_stage_and_place_stand_above_it() -> None:
    shown = card_of(scaled_by_embed_dim())
    assert shown.heading == "Scores divided by the square root of the full width"
    assert shown.overline == "S12 attention scores · vit_transformer.py, line 58"
    assert (shown.lead, shown.anchor) == ("", "stage-S12")


def test_the_tolerance_is_left_to_the_stage() -> None:
    wrong = record("two_mistakes")
    assert "tolerance" not in str(card_of(wrong))
    assert "tolerance" in {one.label: one.error for one in stage_views(wrong)}["S13"]


def test_a_mistake_is_explained_beside_the_equation() -> None:
    explained = card_of(record("two_mistakes")).explanation
    assert explained is not None
    assert explained.experiment
    assert explained.command == "vitcheck explain softmax-over-queries"
    assert len(explained.text.split()) > 10
    assert explained.equation.startswith("S13 = ")


def test_what_has_no_name_leads_to_its_stage() -> None:
    explained = card_of(result("x", stages={"S18": stage("S18", status=StageStatus.FAILED)})).explanation
    assert explained is not None
    assert (explained.text, explained.command) == ("", "vitcheck explain S18")


def test_the_reason_of_the_assignment_is_told() -> None:
    variant = VariantResult(
        id="scale-by-embed-dim", stage="S12", title="?", allowed=False, reason="S12 asks for √d."
    )
    wrong = scaled_by_embed_dim().model_copy(update={"variants": [variant]})
    assert ("The assignment", "S12 asks for √d.") in card_of(wrong).facts


def test_what_stopped_says_what_to_do_and_has_nothing_measured() -> None:
    shown = card_of(not_loaded())
    assert (shown.tone, shown.facts, shown.explanation) == ("stopped", (), None)
    assert shown.advice


def test_what_may_follow_from_a_finding_is_folded_under_it() -> None:
    wrong = scaled_by_embed_dim()
    both = wrong.model_copy(update={"checks": [*wrong.checks, of_model("identity", "it is not handed on")]})
    assert len(list(findings(both))) == 1
    assert further_findings(both, {}).symptoms == (("It holds.", "it is not handed on"),)


def test_checks_that_give_one_mistake_away_are_one_finding() -> None:
    mistake = MistakeResult(id="frozen", stage="model", kind="error", title="blocks are frozen", hint="?")
    checks = [of_model("a", "one", "frozen"), of_model("b", "other", "frozen"), of_model("c", "third")]
    wrong = all_passed().model_copy(update={"checks": checks, "mistakes": [mistake]})
    assert [one.claim for one in findings(wrong)] == ["Blocks are frozen"]
    assert [message for _, message in further_findings(wrong, {}).symptoms] == ["third"]


def test_a_finding_without_a_stage_has_a_card_of_its_own_in_its_line() -> None:
    missing = check("S05", id="component[mlp.values]", stage=None, outcome=Outcome.FAILED, message="no MLP")
    wrong = scaled_by_embed_dim()
    (line,) = further_findings(
        wrong.model_copy(update={"checks": [*wrong.checks, missing]}), {"S12": "stage-S12"}
    ).findings
    assert (line.claim, line.anchor) == ("No MLP", "")
    assert line.card is not None


def test_a_row_of_stages_says_what_to_fix_and_what_comes_next() -> None:
    for one, said in ((scaled_by_embed_dim(), "1 to fix:"), (all_passed(), "Nothing to fix")):
        row = strip(stage_views(one), standing(one), len(list(findings(one))))
        assert row is not None
        assert (row.summary, len(row.cells)) == (said, 26)


def test_stages_that_stand_alike_make_a_run_and_wrong_ones_stand_alone() -> None:
    groups = grouped(stage_views(scaled_by_embed_dim()), fold=True)
    assert [(one.title, len(one.stages)) for one in groups] == [
        ("S01 to S11", 11),
        ("", 1),
        ("S13 to S26", 14),
    ]
    assert len(grouped(stage_views(all_passed()), fold=True)) == 1
    assert len(grouped(stage_views(all_passed()), fold=False)) == 26


@pytest.mark.parametrize("graded", a_class(), ids=lambda one: one.submission[:10])
def test_gradescope_shows_the_card_and_no_tag_of_the_students(graded: Result) -> None:
    text = json.loads(FORMATS["gradescope"](graded, Repository()))["output"]
    tags = set(re.findall(r"</?([a-z0-9]+)", text))
    assert tags <= {"div", "p", "strong", "br", "code", "table", "tr", "td", "em", "details", "summary"}
    assert f"<strong>{escape(standing(graded).claim)}</strong>" in text
