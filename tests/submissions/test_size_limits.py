"""Sizes that a model insists on: usual ones are graded, others refused before anything is drawn at them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vitcheck.reference.sizes import Sizes, preset
from vitcheck.submissions.errors import Refused
from vitcheck.submissions.questions.size_limits import gradable

ASKED = Sizes(batch=3, height=20, width=20, patch=4, embed_dim=60, heads=6, mlp_dim=300, depth=3, classes=11)


@pytest.mark.parametrize(
    ("name", "side"), [("B/16", 224), ("B/16", 384), ("L/16", 384), ("B/8", 224), ("H/14", 336)]
)
def test_usual_fixed_models_are_graded_on_three_blocks(name: str, side: int) -> None:
    sizes = replace(preset(name), batch=3, height=side, width=side, depth=3)
    assert gradable(sizes, ASKED) == sizes


def test_what_the_assignment_asks_for_is_never_too_large() -> None:
    assert gradable(preset("H/14"), preset("H/14")) == preset("H/14")


@pytest.mark.parametrize("patch", [16, 6144])
def test_an_image_beyond_all_measure_is_refused_by_name(patch: int) -> None:
    with pytest.raises(Refused, match="the model reads 3 × 6144 × 6144 numbers at a time, in"):
        gradable(replace(ASKED, height=6144, width=6144, patch=patch), ASKED)


def test_a_batch_that_is_fixed_counts() -> None:
    with pytest.raises(Refused, match="a pass computes about"):
        gradable(replace(ASKED, batch=10**6), ASKED)
