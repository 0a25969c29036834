"""What is shown as a stage and was never computed by the model is told from what was."""

from __future__ import annotations

import pytest
from corpus import BASES
from examining import examine

from vitcheck.checks.grading.assembling import graded
from vitcheck.checks.grading.not_graded import Notes
from vitcheck.checks.grading.running import run_checks
from vitcheck.checks.record.result import Run

# a base: its own dictionary key shows another tensor
RETURNED = '"final_seq": final_seq'
SHOWN = {
    "stage-made-up": "torch.randn(final_seq.shape)",
    "stage-recomputed-beside-model": "self.blocks[0](x_tokens)",
}


@pytest.mark.parametrize("id", SHOWN)
def test_a_returned_tensor_that_the_model_never_computed_is_named(id: str) -> None:
    examination = examine("report", (RETURNED, f'"final_seq": {SHOWN[id]}'))
    (false,) = examination.false_claims()
    assert (false.finding.id, false.finding.stage, false.claim.label) == (id, "final_sequence", "S23")
    assert false.frame is not None
    assert false.frame.file == "report.py"


def test_the_mutant_is_told_at_its_stage_and_nowhere_else() -> None:
    examination = examine("report-stage-recomputed-beside-model")
    outcomes = run_checks(examination)
    run = Run(seed=1, seconds=1.0, isolation=[], versions={}, examples=2, sizes={})
    result = graded("mutant", examination, outcomes, Notes(), run)
    assert [one.id for one in outcomes if one.id.startswith("equation") and one.outcome == "failed"] == [
        "equation[S23]"
    ]
    assert [(one.id, one.stage) for one in result.mistakes] == [("stage-recomputed-beside-model", "S23")]


def test_a_tensor_that_the_model_did_compute_may_be_shown_under_any_name() -> None:
    assert examine("report", (RETURNED, '"final_seq": x_pos')).false_claims() == []


PROBABILITIES = "attn_probs = attn_scores.softmax(dim=-1)"


@pytest.mark.parametrize(
    ("more", "ids"),
    [
        ("# S13: one row for each query\nshown = torch.rand(attn_probs.shape)", ["stage-made-up"]),
        ("# S13 probabilities\nshown = attn_scores.softmax(-2)", ["stage-recomputed-beside-model"]),
        ("# S13 probabilities\nshown = attn_probs.detach().round(decimals=2)", []),
        ("shown = attn_scores.softmax(-2)", []),
    ],
)
def test_a_plain_comment_is_a_claim_about_the_statement_below_it(more: str, ids: list[str]) -> None:
    text = f"{PROBABILITIES}\n{more}".replace("\n", "\n" + " " * 8)
    examination = examine("report", (PROBABILITIES, text))
    assert [one.finding.id for one in examination.false_claims()] == ids


@pytest.mark.parametrize("name", sorted(BASES))
def test_no_correct_model_shows_anything_false(name: str) -> None:
    assert examine(name).false_claims() == []
