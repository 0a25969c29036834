from __future__ import annotations

import io

import pytest
from rich.console import Console
from samples import a_class, all_passed, hostile, not_loaded, scaled_by_embed_dim

from vitcheck.checks.record.result import (
    CheckResult,
    MistakeResult,
    Note,
    Outcome,
    Result,
    StageStatus,
)
from vitcheck.reports.terminal import verdict


def shown(result: Result, width: int = 80, color: bool = False) -> str:
    text = io.StringIO()
    Console(file=text, width=width, force_terminal=color, color_system="truecolor" if color else None).print(
        verdict(result)
    )
    return text.getvalue()


def test_the_first_mistake_with_its_line_and_question() -> None:
    text = shown(scaled_by_embed_dim())
    for part in (
        "brown-li · vit-debugging · 96.5 of 100 points · 1 to fix\n",
        "✗ Scores divided by the square root of the full width\nS12 attention scores · vit_transformer.py:58",
        "    57 │ # BREAKPOINT S12\n▸   58 │ attn_scores = q @ k.transpose(-2, -1) / math.sqrt(self",
        "\nS01 ✓✓✓✓✓ S06 ✓✓✓✓✓ S11 ✓✗✓✓✓ S16 ✓✓✓✓✓ S21 ✓✓✓✓✓ S26 ✓",
    ):
        assert part in text


def test_all_of_it_is_seen_at_once() -> None:
    assert len(shown(scaled_by_embed_dim()).splitlines()) <= 14


def test_a_whole_model_check_that_may_follow_from_a_wrong_stage_is_no_further_finding() -> None:
    follows = CheckResult(
        id="property[identity-block]",
        stage=None,
        title="A block hands on its input.",
        outcome=Outcome.FAILED,
        points=1,
        earned=0,
        message="a block does not hand on its input",
    )
    alone, wrong = (
        shown(one.model_copy(update={"checks": [*one.checks, follows]}))
        for one in (all_passed(), scaled_by_embed_dim())
    )
    assert "1 to fix\n✗ A block does not hand on its input\nWhat should hold: A block hands on" in alone
    assert "1 to fix" in wrong
    assert "hand on" not in wrong


def test_implied_stages_have_their_own_sign() -> None:
    assert "S11 ✓~~✓✓" in shown(all_passed())
    assert "~ right (inferred)" in shown(all_passed())


def test_points_that_stay_unearned_are_told_under_the_score() -> None:
    note = Note(kind="unearned", text="2 checks could not be asked: 2.50 points are not earned.")
    result = all_passed().model_copy(update={"notes": [note]})
    assert shown(result).splitlines()[1] == note.text


def test_a_submission_without_stages_shows_no_strip() -> None:
    text = shown(not_loaded())
    assert "vit_transformer.py:12" in text
    assert "✓" not in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_colour_adds_nothing_but_colour(width: int) -> None:
    for result in a_class():
        colored = Console(file=io.StringIO(), width=width, record=True, force_terminal=True)
        colored.print(verdict(result))
        assert colored.export_text(styles=False) == shown(result, width)


def test_nothing_that_a_student_writes_drives_the_terminal() -> None:
    text = shown(hostile())
    assert "\\x1b[2J" in text
    assert all(one == "\n" or one.isprintable() for one in text)


def test_a_long_message_is_cut() -> None:
    assert "more characters)" in shown(hostile(), width=200)
    assert len(shown(hostile(), width=200)) < 5000


def test_the_mistake_that_a_property_gives_away_is_told_by_its_name() -> None:
    result = all_passed()
    mistake = MistakeResult(
        id="blocks-in-python-list",
        stage="model",
        kind="error",
        title="blocks kept in a list",
        hint="How many?",
    )
    check = CheckResult(
        id="property[parameters]",
        stage=None,
        title="The model has the expected number of parameters.",
        outcome=Outcome.FAILED,
        points=1,
        earned=0,
        message="36 parameters are in modules that are not registered with the model.",
        mistakes=[mistake.id],
    )
    text = shown(result.model_copy(update={"checks": [*result.checks, check], "mistakes": [mistake]}))
    assert "✗ Blocks kept in a list\n│ 36 parameters are in modules" in text
    assert "How many?" in text
    assert "vitcheck explain blocks-in-python-list" in text


def test_what_else_is_wrong_has_a_line_each() -> None:
    result = scaled_by_embed_dim()
    stage = result.stages["S19"].model_copy(update={"status": StageStatus.FAILED, "mistakes": ["skip-lost"]})
    lost = MistakeResult(id="skip-lost", stage="S19", kind="error", title="the skip is lost", hint="?")
    both = {"stages": {**result.stages, "S19": stage}, "mistakes": [*result.mistakes, lost]}
    text = shown(result.model_copy(update=both))
    assert "More about it: vitcheck explain scale-by-embed-dim" in text
    assert "\n✗ S19 The skip is lost\n" in text
