"""What a head reads of a sequence without a class token."""

from __future__ import annotations

from dataclasses import replace

import pytest
from accepted_forms import ASSIGNMENTS, forms_for, written

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.classes.tasks import Task
from vitcheck.checks.record.result import Result
from vitcheck.submissions.host.process import Zygote


def graded(read: str, assignment: str, zygote: Zygote) -> Result:
    form = next(one for one in forms_for("pre-norm") if one.id == "cls-missing")
    hand_in = written("pre-norm", form)
    text = hand_in.files["vit.py"].decode()
    assert text.count("x.mean(dim=1)") == 1
    files = {"vit.py": text.replace("x.mean(dim=1)", read).encode()}
    asked = load_assignment(assignment).model_copy(update={"examples": 3, "written": None})
    return Task(replace(hand_in, files=files), "vit", asked, 0).grade(zygote)


@pytest.mark.parametrize("read", ["x[:, 0]", "x[:, -1]", "x[:, 1:].mean(dim=1)"])
def test_a_patch_is_no_class_token(read: str, zygote: Zygote) -> None:
    result = graded(read, DEFAULT, zygote)
    assert [(one.id, one.stage) for one in result.mistakes] == [("readout-of-some-patches", "S24")]
    assert result.score.earned < result.score.possible


def test_all_patches_may_be_read(zygote: Zygote) -> None:
    assert not graded("x.mean(dim=1)", DEFAULT, zygote).mistakes


def test_where_a_class_token_is_asked_for_its_absence_is_the_one_mistake(zygote: Zygote) -> None:
    result = graded("x[:, 0]", ASSIGNMENTS["pre-norm"], zygote)
    told = {id for one in result.mistakes for id in (one.id, *one.also)}
    assert "cls-missing" in told
    assert "readout-of-some-patches" not in told
    assert result.stages["S24"].status.value == "passed"
