"""An assignment that asks for some stages alone: one week of several on a growing file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from corpus import BASES
from one_file import graded_file

from vitcheck.checks.assignment.assignment import (
    Assignment,
    AssignmentError,
    load_assignment,
    parse_assignment,
)
from vitcheck.checks.grading.running import planned_checks
from vitcheck.checks.tools.course.skeleton import skeleton
from vitcheck.checks.tools.course.starting import Wishes, course_files
from vitcheck.reference.stages import stage
from vitcheck.reports.pages.html import render_report
from vitcheck.submissions.host.process import Zygote


def week(stages: str) -> Assignment:
    text = course_files(Wishes("week", "vit-prenorm", stages=stages, preset="S/8", image=(32, 32)))
    return parse_assignment(text["assignment.toml"], "week.toml")


def labels(first: int, last: int) -> list[str]:
    return [f"S{number:02}" for number in range(first, last + 1)]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("S01-S08", labels(1, 8)),
        ("S09 to S15", labels(9, 15)),
        ("S16, S18-S20, S17", labels(16, 20)),
        ("s25", ["S25"]),
    ],
)
def test_stages_are_named_by_runs_and_one_by_one(said: str, asked: list[str]) -> None:
    assert [stage(key).label for key in week(said).stages] == asked


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('stages = "S01-S30"', "does not have the stage 'S30'; its stages are S01 to S26"),
        ('stages = "S08-S01"', "S01 comes before S08"),
        ("stages = 8", 'such as "S01-S08"'),
    ],
)
def test_what_names_no_stages_is_refused(line: str, message: str) -> None:
    text = 'name = "w"\ntitle = "W"\narchitectures = ["pre-norm"]\n' + line
    with pytest.raises(AssignmentError, match=message):
        parse_assignment(text + '\n[sizes]\npreset = "S/8"\n[points]\nequations = 10\n', "week.toml")


def test_points_of_a_whole_model_are_refused() -> None:
    text = 'name = "w"\ntitle = "W"\narchitectures = ["pre-norm"]\nstages = "S01-S08"\n'
    with pytest.raises(AssignmentError, match="give properties, of a whole one, 0 points"):
        parse_assignment(text + '[sizes]\npreset = "S/8"\n[points]\nproperties = 10\n', "week.toml")


def test_checks_points_stages_and_findings_keep_to_the_week(zygote: Zygote, tmp_path: Path) -> None:
    old, wrong = "attn.softmax(dim=-1)", "attn.softmax(dim=-2)"
    text = BASES["prenorm"].source()
    assert text.count(old) == 1
    text = text.replace(old, wrong)
    first, second = (graded_file(text, week(one), zygote, tmp_path) for one in ("S01-S08", "S09-S15"))
    assert list(first.stages) == labels(1, 8)
    assert (first.score.earned, first.mistakes) == (first.score.possible, [])
    assert {one.stage for one in first.checks} <= {*labels(1, 8), None}
    assert [one.id for one in second.mistakes] == ["softmax-over-queries"]
    assert second.score.earned < second.score.possible
    assert "S13" in render_report(second)
    assert "S16" not in render_report(second)


def test_a_part_of_the_model_is_asked_nothing_of_a_whole_one() -> None:
    ids = {one.id.partition("[")[0] for one in planned_checks(week("S01-S08"))}
    assert "equation" in ids
    assert not ids & {"property", "parameters", "output"}
    assert len(planned_checks(week("S01-S08"))) < len(planned_checks(load_assignment("vit-prenorm"))) / 3


@pytest.mark.parametrize(
    ("stages", "classes", "returned"),
    [
        ("S01-S08", ["VisionTransformer"], "block_input"),
        ("S09-S15", ["TransformerBlock"], "attention_output"),
        ("S16-S20", ["TransformerBlock"], "block_output"),
        ("S21-S26", ["VisionTransformer"], "logits"),
        ("S01-S26", ["TransformerBlock", "VisionTransformer"], "logits"),
    ],
)
def test_the_skeleton_has_what_the_week_asks_for(stages: str, classes: list[str], returned: str) -> None:
    asked = week(stages)
    text = skeleton(asked)
    tree = ast.parse(text)
    assert [one.name for one in tree.body if isinstance(one, ast.ClassDef)] == classes
    assert text.rstrip().endswith(f"return {returned}")
    named = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    wanted = {key for key in asked.stages if key != "image"}
    assert wanted <= named
    assert not {one.key for one in load_assignment("vit").family.stages if one.key not in wanted} & named
