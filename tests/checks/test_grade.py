"""One submission from its file to its record: there always is one, and it can be repeated."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import BASES

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.result import Outcome, Result, StageStatus, Status
from vitcheck.submissions.host.process import Zygote

ASSIGNMENT = load_assignment("vit-debugging").model_copy(update={"examples": 2})
FIRST = "B = img.size(0)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def graded(folder: Path, zygote: Zygote, line: str = "", seed: int = 3) -> Result:
    """The record of the report's code with a first line in its forward pass."""
    text = BASES["report"].source()
    (folder / "vit.py").write_text(text.replace(FIRST, f"{FIRST}        {line}\n"))
    return grade(folder / "vit.py", ASSIGNMENT, zygote=zygote, seed=seed)


def test_the_same_seed_gives_the_same_record(folder: Path, zygote: Zygote) -> None:
    edit = "img = img[:, :, :, torch.arange(img.shape[3] - 1, -1, -1)]"
    first, second = (graded(folder, zygote, edit) for _ in range(2))
    seconds = {"seconds": 0.0}
    assert first.model_copy(update={"run": first.run.model_copy(update=seconds)}) == second.model_copy(
        update={"run": second.run.model_copy(update=seconds)}
    )
    assert first.run.seed == 3
    assert first.run.examples == 2
    assert first.run.sizes["depth"] == 3
    assert {"vitcheck", "torch", "python"} <= set(first.run.versions)


def test_a_process_that_the_code_ends_is_a_result(folder: Path, zygote: Zygote) -> None:
    result = graded(folder, zygote, "import os; os._exit(0)")
    assert result.status in (Status.CRASHED, Status.NOT_LOADED)
    assert "ended the Python process" in (result.reason or "")
    assert result.score.earned == 0


def test_an_exit_is_an_exception_like_any_other(folder: Path, zygote: Zygote) -> None:
    result = graded(
        folder, zygote, "exit('enough') if self.norm_seen else None".replace("self.norm_seen", "B > 1")
    )
    assert result.status is Status.GRADED
    assert any("SystemExit: enough" in one.message for one in result.checks)


def test_what_ends_the_process_in_train_mode_alone_costs_one_check(folder: Path, zygote: Zygote) -> None:
    result = graded(folder, zygote, "import os; os._exit(0) if self.training else None")
    assert result.status is Status.GRADED
    outcomes = {one.id: one.outcome for one in result.checks}
    assert outcomes["property[train-and-eval]"] is Outcome.ERRORED
    assert outcomes["equation[S12]"] is Outcome.PASSED
    assert result.stages["S12"].status is StageStatus.PASSED
    assert len(outcomes) > 120
    assert 0 < result.score.earned < 100


def test_infinite_constants_are_no_error_of_the_code(folder: Path, zygote: Zygote) -> None:
    result = graded(folder, zygote, "img = img.masked_fill(img != img, float('-inf'))")
    assert result.status is Status.GRADED
    assert result.score.earned == 100


@pytest.mark.parametrize("seed", range(5))
def test_a_mistake_that_is_known_at_some_sizes_alone_does_not_get_that_name(
    folder: Path, zygote: Zygote, seed: int
) -> None:
    """Half the scores are what a scale by the width gives where there are 4 heads."""
    text = BASES["prenorm"].source()
    (folder / "vit.py").write_text(text.replace("attn.softmax(dim=-1)", "(attn / 2).softmax(dim=-1)"))
    asked = load_assignment("vit-prenorm").model_copy(update={"examples": 6})
    result = grade(folder / "vit.py", asked, zygote=zygote, seed=seed)
    assert [one.id for one in result.mistakes] == ["extra-step"]
    failed = {one.id for one in result.checks if one.outcome is Outcome.FAILED}
    assert failed == {"equation[S13]"}  # S12 is right in the line before
