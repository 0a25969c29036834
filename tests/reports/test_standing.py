from __future__ import annotations

import pytest
from samples import all_passed, check, not_loaded, result, scaled_by_embed_dim, stage, stopped, two_mistakes

from vitcheck.checks.record.result import Outcome, StageStatus, Status
from vitcheck.reports.views.stage_views import stage_views
from vitcheck.reports.words.standing import standing


def test_the_first_failing_stage_is_named_with_its_line_and_question() -> None:
    stands = standing(scaled_by_embed_dim())
    assert stands.heading == "S12: attention scores"
    assert stands.sentence == "Scores divided by the square root of the full width."
    assert stands.brief == "S12 scale-by-embed-dim"
    assert stands.question.endswith("?")
    assert stands.anchor == "stage-S12"
    assert stands.place is not None
    assert stands.place.short == "vit_transformer.py:58"
    assert [line.text for line in stands.place.marked] == [
        "attn_scores = q @ k.transpose(-2, -1) / math.sqrt(self.embed_dim)"
    ]


def test_the_first_of_several_in_the_order_of_the_pipeline() -> None:
    assert standing(two_mistakes()).brief == "S02 overlapping-patches"


def test_a_mistake_without_a_name_says_so() -> None:
    stands = standing(result("x", stages={"S18": stage("S18", status=StageStatus.FAILED)}))
    assert "they match none of the known mistakes" in stands.sentence
    assert stands.brief == "S18 MLP output"


@pytest.mark.parametrize(
    ("shape", "said"), [([1, 197, 3], "Its shape is wrong"), (None, "No tensor in your forward pass")]
)
def test_a_wrong_shape_and_a_missing_tensor_are_no_wrong_numbers(shape: list[int] | None, said: str) -> None:
    wrong = stage("S18", status=StageStatus.FAILED, shape=shape)
    assert standing(result("x", stages={"S18": wrong})).sentence.startswith(said)


def test_a_failing_check_without_a_failing_stage() -> None:
    stands = standing(result("x", checks=[check("S04", outcome=Outcome.TIMED_OUT)]))
    assert stands.tone == "wrong"
    assert stands.sentence == "The check timed out."


def test_skipped_checks_are_no_mistakes() -> None:
    assert standing(result("x", checks=[check("S26", outcome=Outcome.SKIPPED)])).tone == "right"


def test_nothing_wrong() -> None:
    stands = standing(all_passed())
    assert (stands.tone, stands.brief) == ("right", "")
    assert stands.sentence == "All 26 stages are right, 29 checks passed."


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.GRADED])
def test_what_stopped_says_why_and_what_to_do(status: Status) -> None:
    stands = standing(stopped("x", status, "the reason"))
    assert (stands.tone, stands.sentence) == ("stopped", "The reason.")
    assert stands.advice.endswith((".", "?"))


def test_a_syntax_error_shows_its_line() -> None:
    place = standing(not_loaded()).place
    assert place is not None
    assert (place.short, place.marked[0].number) == ("vit_transformer.py:12", 12)


def test_indentation_that_all_lines_share_is_left_out() -> None:
    place = standing(not_loaded()).place
    assert place is not None
    assert [line.text for line in place.lines] == ["class ViT(nn.Module):", "    def __init__(self, dim=768:"]


def test_an_implied_stage_names_what_it_follows_from() -> None:
    evidence = {one.label: one.evidence for one in stage_views(all_passed())}
    assert evidence["S12"] == "Your code does not compute this tensor separately; it is inferred from S14."
    assert evidence["S11"] == "Found in your forward pass."
