from __future__ import annotations

import math

import pytest
from samples import scaled_by_embed_dim, stage, two_mistakes

from vitcheck.checks.record.result import StageStatus
from vitcheck.reports.words.numbers import Grid, error, expected_axes, seen_axes, slice_of


def texts(grid: Grid) -> list[list[str]]:
    return [[cell.text for cell in row] for row in grid]


def test_shapes_have_named_axes() -> None:
    shown = [(axis.letter, axis.size) for axis in expected_axes(stage("S12"))]
    assert shown == [("B", 1), ("h", 12), ("T", 197), ("T", 197)]


def test_the_axis_that_differs_is_marked() -> None:
    axes = seen_axes(two_mistakes().stages["S02"])
    assert [(axis.letter, axis.size) for axis in axes if axis.differs] == [("N", 729)]


def test_a_shape_with_other_axes_has_no_names() -> None:
    axes = seen_axes(stage("S12", shape=[197, 197]))
    assert [(axis.letter, axis.size, axis.differs) for axis in axes] == [("", 197, True)] * 2


def test_a_stage_that_is_never_made_has_no_shape() -> None:
    assert seen_axes(stage("S12", shape=None)) == ()


@pytest.mark.parametrize(
    ("largest", "tolerance", "words"),
    [
        (4.4e-16, 1e-9, "4.4e-16, within the tolerance 1e-9"),
        (3.1, 1e-9, "3.1 (tolerance 1e-9)"),
        (0.5, 0.0, "0.5; it has to be exactly 0"),
        (math.nan, 1e-9, "not finite (tolerance 1e-9)"),
    ],
)
def test_the_error_is_compared_with_its_tolerance(largest: float, tolerance: float, words: str) -> None:
    shown = error(stage("S12", max_error=largest, tolerance=tolerance))
    assert shown is not None
    assert shown.text == words


def test_an_error_within_its_tolerance_lies_within_it_on_the_scale() -> None:
    within, beyond = error(stage("S12", max_error=1e-12)), error(stage("S12", max_error=1e300))
    assert within is not None
    assert beyond is not None
    assert 0 < within.position < within.tolerance_position < beyond.position == 100


def test_nothing_measured_shows_no_error() -> None:
    assert error(stage("S12", max_error=None)) is None


def test_differing_cells_are_marked_on_both_sides() -> None:
    shown = slice_of(two_mistakes().stages["S18"])
    assert shown is not None
    for grid in (shown.seen, shown.expected):
        assert [cell.differs for cell in grid[0]] == [True, True, False]


def test_as_many_digits_as_show_the_difference() -> None:
    shown = slice_of(two_mistakes().stages["S18"])
    assert shown is not None
    assert texts(shown.seen) == [["0.1234567", "not finite", "2.5"]]
    assert texts(shown.expected) == [["0.1234568", "1", "2.5"]]


def test_four_digits_where_that_is_enough() -> None:
    shown = slice_of(scaled_by_embed_dim().stages["S12"])
    assert shown is not None
    assert texts(shown.expected)[0] == ["0.8412", "-1.207", "0.119"]


def test_equal_values_are_shown_once() -> None:
    same = [[1.0, 2.0]]
    shown = slice_of(stage("S07", values=same, expected_values=[[1.0, 2.0 + 1e-12]]))
    assert shown is not None
    assert (texts(shown.seen), shown.expected) == ([["1", "2"]], ())


def test_a_difference_that_no_digits_show_is_still_marked() -> None:
    shown = slice_of(stage("S02", values=[[1.0]], expected_values=[[1.0 + 2**-52]], tolerance=None))
    assert shown is not None
    assert shown.seen[0][0].differs


def test_values_without_a_counterpart_differ() -> None:
    shown = slice_of(stage("S02", status=StageStatus.FAILED, values=[[1.0, 2.0]], expected_values=[[1.0]]))
    assert shown is not None
    assert [cell.differs for cell in shown.seen[0]] == [False, True]


def test_a_slice_fits_on_a_page() -> None:
    shown = slice_of(stage("S12", values=[[0.5] * 500] * 500))
    assert shown is not None
    assert (len(shown.seen), len(shown.seen[0])) == (8, 8)
