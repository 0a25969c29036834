"""What was located on one pass is found on others, or is said not to hold there."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest
import torch
from examining import examine
from tracing_helpers import RECTANGULAR, trace_of

from vitcheck.checks.examining.drawing import draw_examples
from vitcheck.checks.examining.passes.replay import ReplayError, Seen, reference_pass, replay, reread
from vitcheck.checks.locating.locate import locate
from vitcheck.checks.locating.search.places import Places
from vitcheck.checks.locating.steps import Step
from vitcheck.checks.locating.walk import Walk
from vitcheck.checks.vit.vit_family import VIT

OTHER = replace(RECTANGULAR, batch=3, heads=4, embed_dim=16, mlp_dim=40, height=12, width=8)


@pytest.fixture(scope="module")
def walk() -> Walk:
    return locate(trace_of("prenorm"), RECTANGULAR, VIT)


def test_a_plan_holds_at_other_sizes_and_weights(walk: Walk) -> None:
    seen = replay(walk, trace_of("prenorm", OTHER, 4), OTHER)
    assert len(seen) == len(walk.steps)
    assert all(one.error <= 1e-9 * one.scale for one in seen)


def test_other_operations_are_no_place_for_a_plan(walk: Walk) -> None:
    for use in (replay, reread):
        with pytest.raises(ReplayError, match="other operations ran"):
            use(walk, trace_of("report"), RECTANGULAR)


def test_a_coincidence_does_not_hold_on_another_pass(walk: Walk) -> None:
    def plus_one(step: Step) -> Step:
        return replace(step, predict=lambda context: step.predict(context) + 1)

    steps = [plus_one(one) if one.key == "attention_output" else one for one in walk.steps]
    with pytest.raises(ReplayError, match="attention_output of block 1"):
        replay(replace(walk, steps=steps), trace_of("prenorm", OTHER, 4), OTHER)


def test_what_was_observed_is_read_and_not_predicted(walk: Walk) -> None:
    again = reread(walk, trace_of("prenorm"), RECTANGULAR).stages
    for step in walk.steps:
        torch.testing.assert_close(
            again[step.key, step.block], walk.context.stages[step.key, step.block], rtol=1e-9, atol=1e-9
        )


def test_the_reference_with_the_students_weights_ends_where_a_right_student_does(walk: Walk) -> None:
    trace = trace_of("prenorm", OTHER, 4)
    logits = next(one.student for one in replay(walk, trace, OTHER) if one.step.key == "logits")
    torch.testing.assert_close(reference_pass(walk, trace, OTHER)["logits", 0], logits, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("student", "right", "error"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0.5),
        ([1.0, float("nan")], [1.0, 2.0], float("inf")),
        ([1.0], [1.0, 2.0], float("inf")),
        ([], [], 0.0),
        ([float("-inf")], [float("-inf")], 0.0),
    ],
)
def test_the_error_is_the_largest_difference(
    walk: Walk, student: list[float], right: list[float], error: float
) -> None:
    assert Seen(walk.steps[0], torch.tensor(student), torch.tensor(right)).error == error


@pytest.mark.parametrize("heads", [2, 3])
def test_a_pass_in_which_fewer_heads_are_put_together_is_located_afresh(heads: int) -> None:
    examination = examine("vmap_heads")
    first = examination.first_draw
    sizes = replace(first.sizes, heads=heads, embed_dim=12)
    example = examination.example(replace(first, sizes=sizes))
    assert len(example.seen) == len(examination.examples[0].seen)
    assert not any(one.differs(1e-9) for one in example.seen)


def test_passes_of_a_loop_that_run_the_same_operations_share_a_plan() -> None:
    examination = examine("per_head_modules")
    examples = [examination.example(draw) for draw in draw_examples(10, 0, VIT)]
    signatures = {one.trace.signature for one in examples}
    assert 1 < len(signatures) < len(examples)
    assert len({id(one.walk) for one in examples}) == len(signatures)


def test_where_it_was_located_it_is_though_its_numbers_may_tell_no_place(walk: Walk) -> None:
    with patch.object(Places, "hold", return_value=False):  # as of rows that are all the same
        assert len(replay(walk, walk.trace, RECTANGULAR)) == len(walk.steps)


def test_the_reference_of_a_wrong_student_ends_where_a_right_one_does() -> None:
    """Each of its stages is computed from its own stage before, not from the student's."""
    wrong = examine("report", ("cls_rep = final_seq[:, 0]", "cls_rep = final_seq[:, -1]"))
    expected = examine("report").first.reference["logits", 0]
    torch.testing.assert_close(wrong.first.reference["logits", 0], expected, rtol=1e-9, atol=1e-9)
