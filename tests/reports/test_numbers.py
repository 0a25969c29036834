from __future__ import annotations

import math

import pytest
from samples import scaled_by_embed_dim, stage, two_mistakes

from vitcheck.reports.words.numbers import Slice, error, expected_axes, seen_axes, slice_of

Rows = list[list[float | None]]


def texts(shown: Slice) -> tuple[list[list[str]], list[list[str]]]:
    """The student's numbers and those expected."""
    seen = [[cell.seen for cell in row] for row in shown.cells]
    return seen, [[cell.expected for cell in row] for row in shown.cells]


def marked(values: Rows, expected: Rows, tolerance: float) -> list[int]:
    """How far apart the cells of the first row are, as the table colours them."""
    shown = slice_of(stage("S02", values=values, expected_values=expected, tolerance=tolerance))
    assert shown is not None
    return [cell.apart for cell in shown.cells[0]]


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
    assert error(stage("S12", max_error=largest, tolerance=tolerance)) == words


def test_nothing_measured_shows_no_error() -> None:
    assert error(stage("S12", max_error=None)) == ""


def test_cells_are_coloured_by_how_far_they_are_from_what_is_expected() -> None:
    seen: Rows = [[1.0, 1.001, 1.05, 2.0, None]]
    assert marked(seen, [[1.0] * 5], 1e-9) == [0, 1, 2, 3, 3]


def test_a_constant_factor_shows_in_every_cell() -> None:
    shown = slice_of(
        stage("S12", values=[[0.5, -1.0], [2.0, 0.0]], expected_values=[[1.0, -2.0], [4.0, 0.0]])
    )
    assert shown is not None
    assert [[cell.ratio for cell in row] for row in shown.cells] == [["0.5", "0.5"], ["0.5", "–"]]


def test_as_many_digits_as_show_the_difference() -> None:
    shown = slice_of(two_mistakes().stages["S18"])
    assert shown is not None
    assert texts(shown) == ([["0.1234567", "not finite", "2.5"]], [["0.1234568", "1", "2.5"]])


def test_four_digits_where_that_is_enough() -> None:
    shown = slice_of(scaled_by_embed_dim().stages["S12"])
    assert shown is not None
    assert texts(shown)[1][0] == ["0.8412", "-1.207", "0.119"]


def test_equal_values_are_shown_once() -> None:
    same = [[1.0, 2.0]]
    shown = slice_of(stage("S07", values=same, expected_values=[[1.0, 2.0 + 1e-12]]))
    assert shown is not None
    assert (texts(shown), shown.differs) == (([["1", "2"]], [["", ""]]), False)


def test_a_difference_that_no_digits_show_is_still_marked() -> None:
    assert marked([[1.0]], [[1.0 + 2**-52]], 0.0) == [1]


def test_values_without_a_counterpart_differ() -> None:
    assert marked([[1.0, 2.0]], [[1.0]], 0.0) == [0, 3]


def test_a_slice_fits_on_a_page() -> None:
    shown = slice_of(stage("S12", values=[[0.5] * 500] * 500))
    assert shown is not None
    assert (len(shown.cells), len(shown.cells[0])) == (8, 8)
