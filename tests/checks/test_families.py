"""The assignments that ship beside the default: what each asks for, and what it says is missing."""

from __future__ import annotations

import pytest
from examining import examine

from vitcheck.checks.assignment.assignment import Assignment, load_assignment
from vitcheck.checks.examining.examination import Examination

CLIP, PAPER = (
    load_assignment(name).model_copy(update={"examples": 2}) for name in ("clip-vit", "vit-prenorm")
)


def faults(examination: Examination) -> list[tuple[str, str]]:
    return [(one.id, one.stage) for one in examination.findings() if examination.counts(one.id)]


@pytest.mark.parametrize(
    ("base", "assignment"),
    [("clip_style", CLIP), ("prenorm", PAPER), ("library_mha", PAPER)],
    ids=["clip", "prenorm", "library"],
)
def test_a_correct_model_has_no_faults(base: str, assignment: Assignment) -> None:
    assert faults(examine(base, assignment=assignment)) == []


def test_the_image_encoder_of_clip_has_no_class_probabilities() -> None:
    assert examine("clip_style", assignment=CLIP).absent == {"class_probabilities"}


CLIP_WITHOUT = [
    ("x = self.ln_pre(x)\n", "pass\n", ("pre-encoder-norm-missing", "block_input")),
    ("self.ln_post(x[:, 0, :])", "x[:, 0, :]", ("final-norm-missing", "final_sequence")),
    ('("gelu", QuickGELU())', '("gelu", nn.GELU())', ("gelu-instead-of-quick-gelu", "mlp_hidden")),
    ('("gelu", QuickGELU())', '("gelu", nn.ReLU())', ("relu-instead-of-gelu", "mlp_hidden")),
]


@pytest.mark.parametrize(("old", "new", "fault"), CLIP_WITHOUT)
def test_clip_without_one_of_its_parts_is_still_clip(old: str, new: str, fault: tuple[str, str]) -> None:
    examination = examine("clip_style", (old, new), assignment=CLIP)
    assert examination.architecture == "clip"
    assert faults(examination) == [fault]


def test_another_block_than_the_papers_is_told() -> None:
    assert ("report-hybrid-block", "post_mlp_norm") in faults(examine("report", assignment=PAPER))
