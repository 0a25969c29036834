"""What was expected and what is there, in one sentence."""

from __future__ import annotations

import pytest
from samples import stage

from vitcheck.reports.words.got import constant_ratio, got


def test_another_shape_is_told_by_its_letters_at_full_size() -> None:
    said = got(stage("S24", shape=[1, 197], message="Its shape is [4, 10]."))
    assert said == "B 1 · D 768 was expected, and yours is B 1 · D 197."


def test_what_was_measured_comes_before_numbers() -> None:
    told = stage("S13", message="Rows sum to 2.", values=[[2.0]], expected_values=[[1.0]])
    assert got(told) == "Rows sum to 2."


def test_a_constant_factor_is_told() -> None:
    scaled = stage("S12", values=[[0.5, -1.0, 2.0]], expected_values=[[1.0, -2.0, 4.0]])
    assert got(scaled).startswith("Yours is 0.5 times what is expected")


def test_else_the_two_numbers_that_are_farthest_apart() -> None:
    other = stage("S12", values=[[0.5, -1.0, None]], expected_values=[[1.0, 3.0, 4.0]])
    assert got(other) == "-1 is there, where 3 is expected."


def test_nothing_is_said_of_what_is_right_or_was_not_kept() -> None:
    assert got(stage("S12")) == ""
    assert got(stage("S12", values=[[1.0, 2.0]], expected_values=[[1.0, 2.0]])) == ""


@pytest.mark.parametrize(
    ("pairs", "ratio"),
    [
        ([(0.5, 1.0), (1.0, 2.0), (1.5, 3.0)], 0.5),
        ([(0.5, 1.0), (1.0, 2.0), (1.5, 3.0), (0.0, 1e-6)], 0.5),  # too small to have digits left
        ([(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)], None),
        ([(0.5, 1.0), (1.0, 2.0), (1.8, 3.0)], None),
        ([(0.5, 1.0), (1.0, 2.0)], None),  # two numbers have one by chance
        ([(0.0, 1.0), (0.0, 2.0), (0.0, 3.0)], None),
        ([(float("inf"), 1.0), (float("nan"), 2.0), (1.0, float("inf"))], None),
    ],
)
def test_a_ratio_is_one_number_for_all_and_not_one(
    pairs: list[tuple[float, float]], ratio: float | None
) -> None:
    assert constant_ratio(pairs) == ratio
