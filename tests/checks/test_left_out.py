"""What a block leaves out is told where it is missing, whatever kinds of blocks are accepted."""

from __future__ import annotations

from examining import BRIEF, examine

from vitcheck.checks.assignment.assignment import load_assignment

ANY = load_assignment("vit").model_copy(
    update={"examples": BRIEF.examples, "architectures": ("pre-norm", "parallel")}
)


def test_attention_is_left_out_of_the_sum_that_should_have_it() -> None:
    """An MLP beside attention gives the same numbers where the sum of both lacks that."""
    examination = examine(
        "separate_qkv", ("x = identity + out\n        identity = x", "x = identity"), assignment=ANY
    )
    assert examination.architecture == "pre-norm"
    assert examination.faults("post_attention_norm") == ["attention-left-out"]
