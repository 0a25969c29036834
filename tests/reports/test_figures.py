"""Figures show what was measured while grading, and nothing else."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image
from records import NAMES, SNAPSHOTS, record, snapshot
from safetensors.numpy import load, save

from vitcheck.checks.record.result import Result
from vitcheck.reports.figures.bars import signed_bars
from vitcheck.reports.figures.colours import Scale
from vitcheck.reports.figures.colours import picture as colours
from vitcheck.reports.figures.figure_parts import Figure
from vitcheck.reports.figures.kept import Arrays
from vitcheck.reports.figures.maps import Ends, coloured
from vitcheck.reports.figures.plots import plot
from vitcheck.reports.pages.html import render_report, render_snapshot
from vitcheck.reports.views.stage_figures import figures, picture
from vitcheck.reports.views.stage_views import stage_views

LABELS = [f"S{number:02d}" for number in range(2, 27)]


def drawn(result: Result, label: str) -> tuple[Figure, ...]:
    (stage,) = (one for one in stage_views(result) if one.label == label)
    return figures(stage, Arrays.read(result.arrays))


def pixels(uri: str) -> list[tuple[int, ...]]:
    image = Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).convert("RGBA")
    return [image.getpixel((x, y)) for y in range(image.height) for x in range(image.width)]  # type: ignore[misc] # of four channels


@pytest.mark.parametrize("name", NAMES)
def test_every_stage_has_a_figure_with_a_sentence(name: str) -> None:
    result = record(name)
    for stage in stage_views(result):
        found = drawn(result, stage.label)
        assert found, stage.label
        assert all(one.title and one.sentence for one in found)
        assert all(one.panels or one.plots or one.bars for one in found)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_with_figures_is_small_and_always_the_same(name: str) -> None:
    page = render_report(record(name))
    assert len(page.encode()) < 1_500_000
    assert page == render_report(record(name))


def test_without_arrays_the_page_says_that_there_are_no_figures() -> None:
    alone = record("two_mistakes").model_copy(update={"arrays": None})
    assert "were not stored" in render_report(alone)
    assert "<image" not in render_report(alone)
    assert "were not stored" not in render_report(record("two_mistakes"))


def test_row_sums_are_those_that_were_measured() -> None:
    result = record("two_mistakes")
    sums = Arrays.read(result.arrays).stages["S13"].arrays["row_sums"]
    attention, *_ = drawn(result, "S13")
    shown = [float(bar.text) for panels in attention.panels for bar in panels.maps[0].sums]
    assert shown == pytest.approx(sums.ravel().tolist(), rel=1e-2)
    assert f"{sums.max():.3g}" in attention.sentence


def test_the_first_picture_is_of_the_head_with_the_largest_error() -> None:
    result = record("two_mistakes")
    (stage,) = (one for one in stage_views(result) if one.label == "S13")
    kept = Arrays.read(result.arrays).stages["S13"]
    head = int(kept.arrays["error"].max((1, 2)).argmax())
    first = picture(stage, Arrays.read(result.arrays))
    assert first is not None
    (row,) = first.panels
    assert [one.title.partition(":")[0] for one in row.maps] == [f"head {head}"] * 3
    assert row.maps[2].marked == np.unravel_index(kept.arrays["error"][head].argmax(), (10, 10))


def test_a_right_stage_is_not_compared_with_itself() -> None:
    (attention, _) = drawn(record("fused_attention"), "S13")
    assert [one.title for panels in attention.panels for one in panels.maps] == ["head 0", "head 1", "head 2"]


def test_what_the_class_token_looks_at_lies_over_the_image() -> None:
    result = record("fused_attention")
    heads = Arrays.read(result.arrays).stages["S13"].arrays["class_attention"]
    (_, looked_at) = drawn(result, "S13")
    (panels,) = looked_at.panels
    assert [one.title for one in panels.maps] == ["mean of the heads", "head 0", "head 1", "head 2"]
    assert all(one.under == panels.maps[0].under != "" for one in panels.maps)
    for shown, shares in zip(panels.maps, [heads.mean(0), *heads]):
        row, column = np.unravel_index(shares.argmax(), shares.shape)
        assert shown.description.endswith(f"largest at row {row}, column {column}")
        opaque = np.array([one[3] for one in pixels(shown.image)]).reshape(shares.shape)
        assert np.allclose(opaque, 204 * shares / heads.max(), atol=1)
    (legend,) = panels.legends
    assert (legend.low, legend.high) == ("0", f"{heads.max():.3g}")


def test_a_record_of_old_without_the_image_there_is_drawn_as_it_was() -> None:
    result = record("fused_attention")
    file = result.arrays or b""
    header = json.loads(file[8 : 8 + int.from_bytes(file[:8], "little")])
    kept = {name: one for name, one in load(file).items() if name != "S13/pixels"}
    (_, looked_at) = drawn(result.model_copy(update={"arrays": save(kept, header["__metadata__"])}), "S13")
    assert {one.under for one in looked_at.panels[0].maps} == {""}


def test_patches_of_a_picture_are_shown_as_pictures() -> None:
    stage = next(one for one in stage_views(snapshot("traced")) if one.label == "S02")
    (tiles,) = figures(stage, Arrays.read(snapshot("traced").arrays))
    ((shown,),) = (panels.maps for panels in tiles.panels)
    found = pixels(shown.image)
    assert (shown.columns, shown.rows) == (6 * 8 + 5, 6 * 8 + 5)
    assert found[0][2] > found[0][0]  # the sky, in patch 0
    assert found[-1][1] > found[-1][2]  # the field, in the last
    assert found[8][:3] == (255, 255, 255)  # the gap between two


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_a_page_of_a_picture_speaks_of_it(name: str) -> None:
    page = render_snapshot(snapshot(name))
    assert page == render_snapshot(snapshot(name))
    assert "random, so that every pixel has a value of its own" not in page
    assert ("Yours" in page) == ("What your code computes" in page) == (name == "traced")
    assert ("The guiding questions" in page) == (name == "answer_key")


def test_the_largest_number_has_the_last_colour_and_none_is_see_through() -> None:
    found = pixels(colours(np.array([[0.0, 1.0, np.nan, np.inf]]), 0.0, 1.0, Scale.AMOUNT))
    assert found[0] == (0x00, 0x22, 0x4E, 255)
    assert found[1] == found[3] == (0xFE, 0xE8, 0x38, 255)
    assert found[2][3] == 0


def test_scales_are_told_apart_by_lightness() -> None:
    """Amounts rise all the way, veils darken, signed numbers fall off to both sides."""
    ramp = np.linspace(0, 1, 64)[None]
    light = {
        scale: [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b, _ in pixels(colours(ramp, 0.0, 1.0, scale))]
        for scale in Scale
    }
    assert light[Scale.AMOUNT] == sorted(light[Scale.AMOUNT])
    assert light[Scale.SIGNED][:32] == sorted(light[Scale.SIGNED][:32])
    assert light[Scale.VEIL] == sorted(light[Scale.VEIL], reverse=True)
    assert light[Scale.SIGNED][32:] == sorted(light[Scale.SIGNED][32:], reverse=True)


def test_a_right_patch_holds_the_pixels_of_its_square() -> None:
    (patches,) = drawn(record("two_mistakes"), "S02")
    whole, cut = patches.panels[0].maps
    assert [one.text for one in whole.numbers] == [str(one) for one in range(36)]
    assert [one.text for one in cut.numbers][:4] == ["0", "1", "2", "3"]
    assert "9 of 9 hold the pixels of a single square" in cut.description


SIZES = array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)
NUMBERS = st.floats(width=32)  # also those that are none


@settings(deadline=None, max_examples=60)  # a page each
@given(label=st.sampled_from(LABELS), data=st.data())
def test_whatever_a_student_computed_can_be_drawn(label: str, data: st.DataObject) -> None:
    """Shapes that no stage has, numbers that are not finite, and nothing measured but what shapes allow."""
    student = data.draw(arrays(np.float32, data.draw(SIZES), elements=NUMBERS))
    others = data.draw(st.booleans())
    kept = {"student": student} | ({"expected": -student, "error": np.abs(student)} if others else {})
    file = save(
        {f"{label}/{name}": one for name, one in kept.items()},
        {"stages": json.dumps({label: {"image": 0, "images": 2, "block": 1, "shape": list(student.shape)}})},
    )
    assert "<svg" in render_report(record("two_mistakes").model_copy(update={"arrays": file}))


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_measures_without_a_finite_number_are_drawn_too(value: float) -> None:
    result = record("two_mistakes")
    file = result.arrays or b""
    header = json.loads(file[8 : 8 + int.from_bytes(file[:8], "little")])
    broken = {
        name: one if name.endswith("grid") else np.full_like(one, value, np.float32)
        for name, one in load(file).items()
    }
    changed = result.model_copy(update={"arrays": save(broken, header["__metadata__"])})
    assert render_report(changed).count("<figure") == render_report(result).count("<figure")


def test_bars_begin_at_zero() -> None:
    below, none, above = signed_bars(np.array([-1.0, 0.0, 3.0]))
    assert (below.start, below.length, below.below) == (0.0, 25.0, True)
    assert (none.start, none.length) == (25.0, 0.0)
    assert (above.start, above.length) == (25.0, 75.0)


def test_a_plot_leaves_out_what_is_not_finite() -> None:
    x, y = np.arange(3.0), np.array([1.0, np.nan, 3.0])
    (line,) = plot("", "", "", [("", "seen", x, y)]).lines
    assert [x for x, _ in line.points] == [0.0, 100.0]


def test_the_largest_difference_is_framed_in_all_three_maps() -> None:
    panels = [one for one in drawn(record("two_mistakes"), "S13")[0].panels if one.maps[2].marked]
    assert len(panels) == 1
    first, *others = (one.marked for one in panels[0].maps)
    assert first is not None
    assert others == [first] * 2
    apart = panels[0].maps[2]
    numbers = [float(one) for one in apart.cells.split()]
    assert numbers.index(max(numbers)) == first[0] * apart.columns + first[1]


def test_maps_say_what_their_rows_and_columns_are() -> None:
    assert drawn(record("two_mistakes"), "S13")[0].panels[0].maps[0].axes == ("query tokens", "key tokens")


def test_large_maps_have_no_numbers_to_be_read_one_by_one() -> None:
    (stage,) = (one for one in stage_views(snapshot("traced")) if one.label == "S13")
    shown = figures(stage, Arrays.read(snapshot("traced").arrays))[0].panels[0]
    assert not shown.is_read
    assert drawn(record("two_mistakes"), "S13")[0].panels[0].is_read


def test_a_square_root_tells_small_numbers_apart() -> None:
    small = np.array([[0.0, 0.01, 1.0]])
    plain, root = (pixels(coloured(small, Ends(0.0, 1.0, Scale.AMOUNT, one))) for one in (False, True))
    assert plain[2] == root[2]
    assert root[1] == pixels(colours(np.array([[0.1]]), 0.0, 1.0, Scale.AMOUNT))[0] != plain[1]
    titles = [one.title for one in drawn(record("two_mistakes"), "S13")[0].panels[-1].legends]
    assert titles == ["values (square-root scale)", "absolute difference"]
