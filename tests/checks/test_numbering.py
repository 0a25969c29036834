"""A course's own numbers of the stages, beside the report's and the sheet's."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from vitcheck.__main__ import main
from vitcheck.checks.architecture.family import family
from vitcheck.checks.assignment.assignment import AssignmentError, assignment_text, parse_assignment
from vitcheck.checks.tools.course.for_handout import handout_text
from vitcheck.checks.tools.course.skeleton import skeleton

OWN = """
[numbering]
S05 = "tokens"
S06 = "class_token"
S14 = ["attention_context", "attention_output"]
"""
TEXT = assignment_text("vit-debugging").replace('labels = ["report", "sheet"]\n', "") + OWN


@pytest.mark.parametrize(
    ("numbering", "key", "labels"),
    [
        ("report", "attention_output", ("S15",)),
        ("sheet", "attention_output", ("S14",)),
        ("sheet", "attention_context", ("S14",)),
        ("sheet", "post_attention_norm", ("S15", "S16")),
    ],
)
def test_a_stage_may_have_other_numbers(numbering: str, key: str, labels: tuple[str, ...]) -> None:
    assert family("vit").labels_of(key, numbering) == labels


def test_own_numbers_are_those_of_marks_of_the_handout_and_of_the_list() -> None:
    asked = parse_assignment(TEXT, "week.toml")
    assert asked.labels == ("own",)
    assert asked.family.keys_of(asked.labels, "S05") == ["tokens"]
    assert asked.family.keys_of(asked.labels, "S14") == ["attention_context", "attention_output"]
    assert asked.family.keys_of(asked.labels, "S12") == ["attention_scores"]
    assert asked.family.labels_of("class_token", "own") == ("S06",)
    text = skeleton(asked)
    lines = [line.strip() for line in text.splitlines()]
    assert lines[lines.index("tokens = ...") + 1] == "# BREAKPOINT S05"
    assert lines[lines.index("class_token = ...") + 1] == "# BREAKPOINT S06"
    assert parse_assignment(handout_text(TEXT), "handout.toml").numbering == asked.numbering


def test_they_are_listed(tmp_path: Path) -> None:
    (tmp_path / "week.toml").write_text(TEXT, "utf-8")
    run = CliRunner().invoke(main, ["stages", "--assignment", str(tmp_path / "week.toml")])
    lines = run.output.splitlines()
    assert any(line.startswith("S06") and " class_token " in line for line in lines)
    assert any(line.startswith("S05") and " tokens " in line for line in lines)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('[numbering]\nS05 = "token"', "'token' is not a stage; did you mean"),
        ('[numbering]\nA5 = "tokens"', "A5"),
    ],
)
def test_a_number_of_nothing_is_told(table: str, message: str) -> None:
    with pytest.raises(AssignmentError, match=message):
        parse_assignment(f"{assignment_text('vit')}\n{table}\n", "week.toml")


def test_own_numbers_have_to_be_said() -> None:
    text = assignment_text("vit-debugging").replace('["report", "sheet"]', '["own"]')
    with pytest.raises(AssignmentError, match=r"there is no table \[numbering\]"):
        parse_assignment(text, "week.toml")
