from __future__ import annotations

import csv
import json

import pytest
from samples import HOSTILE, a_class, hostile, not_loaded, scaled_by_embed_dim

from vitcheck.checks.record.adjustment import UNADJUSTED, Adjustment
from vitcheck.checks.record.grade import decided
from vitcheck.reports.formats.grade_tables import grades_csv, grades_json
from vitcheck.reports.views.summaries import Summary, summaries
from vitcheck.reports.words.spreadsheets import text_cell
from vitcheck.reports.words.text import points


def a_class_with(about: dict[str, Adjustment]) -> list[Summary]:
    return summaries(decided(one, about.get(one.submission, UNADJUSTED)) for one in a_class())


def rows() -> list[dict[str, str]]:
    return list(csv.DictReader(grades_csv(summaries(a_class())).splitlines()))


def test_columns_are_stages_then_groups_then_the_score() -> None:
    header = grades_csv(summaries(a_class())).splitlines()[0].split(",")
    assert header[:3] == ["submission", "status", "S01"]
    assert header[-4:] == ["S26", "properties", "rules", "score"]


def test_the_first_row_says_what_is_possible() -> None:
    first = rows()[0]
    assert first["submission"] == "points possible"
    assert (first["S12"], first["properties"], first["rules"], first["score"]) == ("3.5", "6", "3", "100")


def test_a_row_sums_to_its_score() -> None:
    row = next(one for one in rows() if one["submission"] == "brown-li")
    numbers = [float(row[name]) for name in row if name not in ("submission", "status", "score")]
    assert row["S12"] == "0"
    assert sum(numbers) == float(row["score"]) == 96.5


def test_a_submission_that_could_not_be_graded_keeps_its_row() -> None:
    row = next(one for one in rows() if one["submission"] == "diaz_2")
    assert (row["status"], row["S01"], row["score"]) == ("not_loaded", "", "0")


def test_rows_are_sorted_by_name() -> None:
    names = [one["submission"] for one in rows()[1:]]
    assert names[1:] == ["adams-zoe", "brown-li", "chen.omar", "diaz_2", "evans"]


@pytest.mark.parametrize("first", ["=", "+", "-", "@"])
def test_no_name_is_a_formula(first: str) -> None:
    assert text_cell(f"{first}1+1") == f"'{first}1+1"


@pytest.mark.parametrize("first", ["\t", "\r", "\n", " "])
def test_no_blank_hides_a_formula(first: str) -> None:
    assert not text_cell(f"{first}=1+1").startswith(("=", "\t", "\r", "\n", " "))


def test_no_cell_of_a_hostile_class_is_a_formula() -> None:
    for row in csv.reader(grades_csv(summaries(a_class())).splitlines()):
        assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_an_empty_class_is_a_table() -> None:
    assert grades_csv([]) == "submission,status,score\npoints possible,,0\n"


def test_a_class_that_nobody_could_hand_in() -> None:
    assert grades_csv(summaries([not_loaded()])).splitlines()[2] == "diaz_2,not_loaded,0"


def test_the_order_of_results_does_not_matter() -> None:
    pair = [scaled_by_embed_dim(), not_loaded()]
    assert grades_csv(summaries(pair)) == grades_csv(summaries(pair[::-1]))


def test_what_was_decided_is_in_the_score_with_its_reason() -> None:
    late = Adjustment(delta=-1.5, comment="=late", late_days=2)
    class_ = a_class_with({"brown-li": late, "adams-zoe": Adjustment(override=50.0)})
    table = list(csv.DictReader(grades_csv(class_).splitlines()))
    rows = {row["submission"]: (row["adjustment"], row["score"], row["remark"]) for row in table}
    assert rows["brown-li"] == ("-1.5", "95", "adjusted by -1.5, 2 late days: =late")
    assert rows["adams-zoe"] == ("-50", "50", "set to 50")
    assert rows["diaz_2"] == ("0", "0", "")


def test_a_remark_is_no_formula() -> None:
    class_ = a_class_with({"brown-li": Adjustment(comment="=cmd()")})
    table = csv.DictReader(grades_csv(class_).splitlines())
    assert {row["remark"] for row in table} == {"", "'=cmd()"}


@pytest.mark.parametrize("about", [{}, {"brown-li": Adjustment(delta=-1 / 3, comment="late")}])
def test_the_json_is_the_table_with_numbers_as_numbers(about: dict[str, Adjustment]) -> None:
    class_ = a_class_with(about)
    possible, *table = csv.DictReader(grades_csv(class_).splitlines())
    read = json.loads(grades_json(class_))
    assert all(isinstance(one, float) for one in read["points_possible"].values())
    assert _cells(read["points_possible"]) == {
        name: cell for name, cell in possible.items() if cell and name != "submission"
    }
    for row, cells in zip(read["submissions"][1:], table[1:], strict=True):  # the hostile name is first
        assert isinstance(row["score"], float)
        assert _cells(row) == {name: cell for name, cell in cells.items() if cell or name == "remark"}


def _cells(row: dict[str, str | float]) -> dict[str, str]:
    return {name: one if isinstance(one, str) else points(one) for name, one in row.items()}


def test_the_json_lacks_the_points_of_what_was_never_checked() -> None:
    (row,) = json.loads(grades_json(summaries([not_loaded()])))["submissions"]
    assert row == {"submission": "diaz_2", "status": "not_loaded", "score": 0.0}


def test_the_json_of_a_hostile_class_is_plain_and_keeps_its_names() -> None:
    text = grades_json(summaries([decided(hostile(), Adjustment(comment=HOSTILE))]))
    assert text.isascii()
    assert all(one == "\n" or one.isprintable() for one in text)
    assert json.loads(text)["submissions"][0]["submission"] == hostile().submission


def test_the_json_of_an_empty_class() -> None:
    assert json.loads(grades_json([])) == {"points_possible": {"score": 0.0}, "submissions": []}
