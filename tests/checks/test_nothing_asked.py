"""Without an assignment a file is judged as what it is, and marks that are wanting make nothing wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from corpus import BASES
from one_file import graded_file

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.reports.terminal import verdict
from vitcheck.reports.words.standing import standing
from vitcheck.submissions.host.process import Zygote

_MARK = re.compile(r"# BREAKPOINT S\d\d")


@pytest.mark.parametrize("name", ["report", "prenorm", "clip_style"])
def test_what_is_right_in_some_course_gets_all_points(name: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_MARK.sub("#", BASES[name].source()), load_assignment(DEFAULT), zygote, tmp_path)
    assert (result.score.earned, result.mistakes) == (100, [])
    assert result.asked is not None
    assert result.asked.known_as == DEFAULT


@pytest.mark.parametrize(
    "fixed",
    [
        {"img_size": 32, "patch_size": 4, "num_classes": 10},
        {"patch_size": 8},  # too many tokens for a pass through all blocks
        {"img_size": 28, "patch_size": 7, "in_chans": 1, "embed_dim": 64, "depth": 6, "num_heads": 4},
        {"mlp_ratio": 2.0},
    ],
)
def test_a_model_of_one_size_is_right_whatever_size_it_is(
    fixed: dict[str, float], zygote: Zygote, tmp_path: Path
) -> None:
    text = BASES["prenorm"].source()
    for name in fixed:
        text, count = re.subn(rf"\n        {name}=[^,]+,", "", text)
        assert count == 1
    place = "        super().__init__()\n        if isinstance(img_size, int)"
    assert text.count(place) == 1
    lines = "".join(f"        {name} = {size}\n" for name, size in fixed.items())
    result = graded_file(text.replace(place, lines + place), load_assignment(DEFAULT), zygote, tmp_path)
    assert (result.score.earned, result.mistakes) == (100, [])
    assert not [one for one in result.checks if one.outcome in ("failed", "errored")]


def test_wanting_marks_cost_their_points_and_are_one_sentence(zygote: Zygote, tmp_path: Path) -> None:
    text = BASES["report"].source()
    assert _MARK.search(text)
    result = graded_file(_MARK.sub("#", text), load_assignment("vit-debugging"), zygote, tmp_path)
    assert standing(result).tone == "right"
    assert result.score.earned == pytest.approx(92, abs=0.5)  # what could not be asked goes to the others
    (said,) = [one.text for one in result.notes if one.kind == "unearned"]
    assert (
        said == "This assignment asks for a comment `# BREAKPOINT S01` after the line that computes S01,"
        " and 25 more are missing: 8.00 points are not earned."
    )
    assert verdict(result)
