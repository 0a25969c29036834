"""A difference is told by both numbers, where they are, and the factor between them where there is one."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from vitcheck.checks.examining.passes.replay import Seen
from vitcheck.checks.locating.steps import Step
from vitcheck.checks.rules.differing import apart, difference
from vitcheck.reference.sizes import Sizes
from vitcheck.reference.stages import stage

SIZES = Sizes(
    batch=2, channels=1, height=4, width=8, patch=2, embed_dim=8, heads=2, mlp_dim=16, depth=2, classes=3
)
RIGHT = torch.randn(2, 2, 9, 9, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
AT = "at the test sizes (batch 2, 9 tokens, width 8, 2 heads)"


def told(student: Tensor, right: Tensor = RIGHT, *, ratio: bool = True) -> str:
    step = Step("attention_scores", 1, lambda context: student, lambda context: right, None)
    return difference(stage("S12"), Seen(step, student, right), SIZES, ratio=ratio)


def test_both_numbers_and_their_place() -> None:
    student = RIGHT.clone()
    student[1, 0, 3, 4] += 5
    expected, got = float(RIGHT[1, 0, 3, 4]), float(student[1, 0, 3, 4])
    where = "block 1, image 1, head 0, query 3, key 4"
    assert told(student) == f"Expected {expected:#.4g}, got {got:#.4g} ({where})."


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (2.0, "Yours is 2 times what S12 should be everywhere."),
        (1.37, "Yours is 1.37 times what S12 should be everywhere."),
        (1 / math.sqrt(2), f"Yours is 0.7071 (1/√2) times what S12 should be everywhere, {AT}."),
        (math.sqrt(8), f"Yours is 2.828 (√8) times what S12 should be everywhere, {AT}."),
        (0.25, f"Yours is 0.25 (1/4) times what S12 should be everywhere, {AT}."),
        (-1 / math.sqrt(3), f"Yours is -0.5774 (-1/√3) times what S12 should be everywhere, {AT}."),
    ],
)
def test_the_factor_and_the_root_that_it_is(times: float, said: str) -> None:
    assert told(times * RIGHT).endswith(f"). {said}")
    assert "times" not in told(times * RIGHT, ratio=False)


def test_no_factor_where_there_is_none() -> None:
    assert "times" not in told(RIGHT + 0.5)
    assert "times" not in told(RIGHT * torch.nan)


def test_what_is_equal_but_for_rounding_is_not_told() -> None:
    assert told(RIGHT * (1 + 1e-13)) == ""


def test_shapes_say_that_they_are_those_of_the_test() -> None:
    assert told(RIGHT[..., :8]) == f"Expected the shape 2 × 2 × 9 × 9, got 2 × 2 × 9 × 8 {AT}."


@pytest.mark.parametrize(
    ("expected", "got", "texts"),
    [
        (5.81014, 4.10839, ("5.810", "4.108")),
        (1.0, 1.0000001, ("1.00000000", "1.00000010")),
        (1.0, math.nextafter(1.0, 2.0), ("1.0000000000000000", "1.0000000000000002")),
        (1234.0, float("nan"), ("1234", "nan")),
    ],
)
def test_two_numbers_never_look_equal(expected: float, got: float, texts: tuple[str, str]) -> None:
    assert apart(expected, got) == texts
