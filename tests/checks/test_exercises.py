"""Functions that read a trained ViT: right ones pass in any style, and the usual wrong ways are named."""

from __future__ import annotations

import pytest
from part_mutants import EXERCISES, Planted
from submitting import ROLLOUT, changed, exercises

from vitcheck.checks.assignment.asked_parts import ExercisePart
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.examining.verdicts import CheckFailed

SHIPPED = load_assignment("vit-rollout")


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("key", SHIPPED.exercises)
@pytest.mark.parametrize("style", ["rollout_course", "rollout_numpy", "rollout_pieces"])
def test_a_right_function_passes_in_every_style(style: str, key: str, seed: int) -> None:
    exercises(changed(style), SHIPPED, seed).check(key)


@pytest.mark.parametrize("key", ["fuse_heads", "mix_residual", "normalise_rows"])
def test_single_steps_pass(key: str) -> None:
    exercises(changed("rollout_pieces")).check(key)


@pytest.mark.parametrize("planted", EXERCISES, ids=str)
def test_a_planted_mistake_is_named(planted: Planted) -> None:
    part = ExercisePart(points=1, fusion=planted.fusion)  # type: ignore[arg-type]  # one of the two
    assignment = ROLLOUT.model_copy(update={"exercises": {planted.key: part}})
    found = exercises(changed(planted.sample, *planted.edits), assignment)
    with pytest.raises(CheckFailed) as failed:
        found.check(planted.key)
    assert failed.value.mistakes[:1] == (planted.id,)


def test_a_missing_function_is_said_with_what_it_takes() -> None:
    with pytest.raises(
        CheckFailed, match="It takes the maps of all layers, the first layer first, and returns"
    ):
        exercises("def helper(x):\n    return x\n").check("attention_rollout")


def test_a_crash_is_said_with_its_line() -> None:
    text = changed("rollout_course", ("rollout = attention @ rollout", "rollout = attention @ rollouts"))
    with pytest.raises(CheckFailed, match=r"NameError.*'rollouts'.*\(parts\.py, line 35\)"):
        exercises(text).check("attention_rollout")


def test_the_rollout_may_mix_the_residual_in_by_itself() -> None:
    found = exercises(
        changed(
            "rollout_course",
            (
                "rollout = attention_maps[0]",
                "eye = torch.eye(attention_maps[0].shape[-1])\n    rollout = (attention_maps[0] + eye) / 2",
            ),
            ("rollout = attention @ rollout", "rollout = (attention + eye) / 2 @ rollout"),
        ),
        SHIPPED,
    )
    found.check("attention_rollout")
    assert found.verdict("attention_rollout").seen == ("rollout-mixes-residual-itself",)


def test_arguments_that_play_no_role_are_named() -> None:
    text = changed(
        "rollout_course",
        ("def position_similarity(pos_embed):", "def position_similarity(pos_embed, grid, temperature):"),
    )
    with pytest.raises(
        CheckFailed, match="needs an argument 'temperature', but the exercise gives none for it"
    ):
        exercises(text).check("position_similarity")
