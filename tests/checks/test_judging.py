"""A stage is judged by its shape, its equation and the reference; what is measured is said in words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from examining import examine
from torch import Tensor

from vitcheck.checks.examining.passes.replay import reference_pass
from vitcheck.checks.examining.verdicts import CheckFailed, NotReached
from vitcheck.checks.locating.context import Context
from vitcheck.checks.rules.kinds.equation import check_equation
from vitcheck.checks.rules.kinds.reference import check_reference
from vitcheck.checks.rules.kinds.shape import check_shape

SCORES = "attn_scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)"
PROBS = "attn_probs = attn_scores.softmax(dim=-1)"
ODD = (PROBS, f"{PROBS} * 1.37 + 0.01 * attn_scores.sin()")


def failure(check: object, key: str, name: str, *edits: tuple[str, str]) -> CheckFailed:
    assert callable(check)
    with pytest.raises(CheckFailed) as failed:
        check(examine(name, *edits), key)
    return failed.value


def test_right_code_passes_in_every_stage() -> None:
    examination = examine("report")
    for key in ("patches", "attention_scores", "post_mlp_norm", "second_block_output", "class_probabilities"):
        check_shape(examination, key)
        check_equation(examination, key)
        check_reference(examination, key)


def test_a_known_mistake_is_named_with_its_smallest_sizes() -> None:
    failed = failure(check_equation, "attention_scores", "report-scale-missing")
    assert failed.mistakes[0] == "scale-missing"
    assert failed.draw is not None
    sizes = failed.draw.sizes
    assert sizes.batch * sizes.tokens * sizes.embed_dim < 500  # of 1000 on average


def test_no_smaller_sizes_are_looked_for_where_the_code_holds_large_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("vitcheck.submissions.questions.size_limits.LARGE", 1)
    monkeypatch.setattr(
        "vitcheck.checks.examining.passes.shrinking.smallest", lambda *_: pytest.fail("took minutes")
    )
    examination = examine("report-scale-missing")
    with pytest.raises(CheckFailed) as failed:
        check_equation(examination, "attention_scores")
    assert failed.value.draw == examination.first_draw


def test_one_mistake_costs_one_stage() -> None:
    examination = examine("report-scale-missing")
    for key in ("query", "attention_probabilities", "attention_output", "logits"):
        check_equation(examination, key)


def test_what_nothing_known_explains_is_measured() -> None:
    failed = failure(check_equation, "attention_probabilities", "report", ODD)
    assert failed.mistakes == ()
    assert failed.draw is not None
    message = failed.message
    where = r"block 1, image \d, head \d, query \d+, key \d+"
    assert re.search(rf"Expected [\d.-]+, got [\d.-]+ \({where}\)", message)


def test_after_what_nothing_explains_the_stages_behind_it_are_still_judged() -> None:
    check_equation(examine("report", ODD), "attention_context")


def test_the_reference_is_not_compared_behind_a_wrong_stage() -> None:
    with pytest.raises(NotReached, match="S12 is already wrong"):
        check_reference(examine("report-scale-missing"), "logits")


def test_a_wrong_shape_names_both_with_their_axes() -> None:
    failed = failure(check_shape, "mlp_hidden", "report-mlp-ratio-wrong")
    assert "Expected B 1 × T 197 × M 3072" in failed.message
    assert failed.mistakes == ("mlp-ratio-wrong",)


def test_a_model_that_fails_at_full_size_is_told_the_exception() -> None:
    edit = ("B = img.size(0)\n", "B = img.size(0)\n        assert img.shape[-1] < 100, 'too large'\n")
    failed = failure(check_shape, "patches", "report", edit)
    assert "at the assignment's full size the model fails: AssertionError: too large" in failed.message


def test_what_fails_at_full_size_alone_is_to_blame_where_it_fails() -> None:
    examination = examine(
        "prenorm", ("B, N, C = x.shape", "B, N, C = x.shape\n        assert N < 100, 'too long'")
    )
    for key in ("patches", "positioned_tokens"):
        check_shape(examination, key)
    with pytest.raises(CheckFailed, match="at the assignment's full size the model fails"):
        check_shape(examination, "query")
    with pytest.raises(NotReached, match="fails before it"):
        check_shape(examination, "logits")


def test_a_crash_leaves_the_stages_before_it_judged() -> None:
    examination = examine("report", ("logits = self.head(cls_rep)", "logits = self.head(cls_rep.T)"))
    check_equation(examination, "block_output")
    with pytest.raises(CheckFailed, match="stops here: RuntimeError"):
        check_equation(examination, examination.stopped_at or "")
    with pytest.raises(NotReached, match="stopped before it"):
        check_equation(examination, "class_probabilities")


def test_where_parameters_do_not_fit_what_is_right_the_reference_ends_and_nothing_errs() -> None:
    def too_long(_: Context) -> Tensor:
        raise RuntimeError("shape '[10, 12]' is invalid for input of size 108")

    examination = examine("prenorm")
    example = examination.examples[0]
    steps = [
        replace(one, right=too_long) if one.key == "positioned_tokens" else one for one in example.walk.steps
    ]
    found = reference_pass(replace(example.walk, steps=steps), example.trace, example.draw.sizes)
    assert ("tokens", 0) in found
    assert ("positioned_tokens", 0) not in found
    example.__dict__["reference"] = found
    check_reference(examination, "tokens")
    with pytest.raises(NotReached, match="do not fit into the reference model"):
        check_reference(examination, "positioned_tokens")
