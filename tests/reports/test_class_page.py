"""What the page of a class says."""

from __future__ import annotations

import pytest
from classes_drawn import drawn_class
from samples import HOSTILE, a_class, all_passed, result, scaled_by_embed_dim, stage, stopped, two_mistakes
from test_pages import page

from vitcheck.checks.record.adjustment import Adjustment
from vitcheck.checks.record.grade import decided
from vitcheck.checks.record.result import GRADER_FAILED, MistakeResult, Result, StageStatus, Status
from vitcheck.reports.figures.bars import histogram
from vitcheck.reports.pages.html import render_index
from vitcheck.reports.views.class_lists import Person, difficulties, reviews, tallies
from vitcheck.reports.views.summaries import summaries


def text(*results: Result) -> str:
    return page(render_index(summaries(results))).text


def test_the_class_at_a_glance() -> None:
    shown = text(scaled_by_embed_dim(), two_mistakes(), all_passed())
    for part in (
        "Submissions 3 Graded 3 Nothing wrong 1",
        "Median score 96.5 of 100",
        "S12 scores divided by the square root of the full width scale-by-embed-dim 1 submission",
        "adams-zoe 100 ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ~ ~ ✓",
        "brown-li 96.5 S12 scale-by-embed-dim ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✗ ✓",
    ):
        assert part in shown


def test_each_cell_spans_the_stages_whose_signs_it_holds() -> None:
    read = page(render_index(summaries(a_class())))
    columns = sum(attributes.get("scope") == "col" for _, attributes in read.tags)
    body = render_index(summaries(a_class())).split("<tbody>")[1].split("</tbody>")[0]
    for row in body.strip().split("\n"):
        tags = [one for one in page(row).tags if one[0] in ("td", "th")]
        assert sum(int(attributes.get("colspan", 1)) for _, attributes in tags) == columns == 29


def test_a_class_of_2000_is_a_page_that_loads() -> None:
    assert len(render_index(summaries(drawn_class(2000))).encode()) < 3_000_000


@pytest.mark.parametrize(
    ("status", "reason", "title"),
    [
        (Status.CRASHED, GRADER_FAILED, "The grader itself failed"),
        (Status.CRASHED, "exit() was called", "Ended the Python process"),
        (Status.TIMED_OUT, "a loop", "Ran for too long"),
        (Status.OUT_OF_MEMORY, "a list", "Needed too much memory"),
        (Status.REFUSED, "too many files", "Broke a rule of the sandbox"),
        (Status.NOT_LOADED, "a comma", "Could not be loaded"),
    ],
)
def test_what_could_not_be_graded_needs_a_person(status: Status, reason: str, title: str) -> None:
    (review,) = reviews(summaries([all_passed(), stopped("x", status, reason)]))
    assert (review.title, review.unfolded) == (title, True)
    assert review.people[0].text.casefold() == f"{reason}.".casefold()


def test_what_no_known_mistake_explains_needs_a_person() -> None:
    (review,) = reviews(summaries([two_mistakes(), scaled_by_embed_dim()]))
    assert review.title == "Wrong without a known cause"
    text = "See S03 flattened patches, S18 MLP output."
    assert review.people == (Person("chen.omar", "chen.omar/report.html", text),)


def test_what_an_instructor_decided_is_listed() -> None:
    typo = decided(scaled_by_embed_dim(), Adjustment(delta=3.0, comment="<b>typo</b> on the sheet"))
    (review,) = reviews(summaries([typo]))
    assert (review.title, review.people[0].text) == (
        "Adjusted by an instructor",
        "adjusted by +3: <b>typo</b> on the sheet",
    )
    shown = page(render_index(summaries([typo]))).text
    assert "brown-li 99.5 S12" in shown


def test_long_lists_are_folded_and_the_most_urgent_stands_first() -> None:
    stuck = [stopped(f"{number}", Status.TIMED_OUT, "a loop") for number in range(40)]
    found = reviews(summaries([*stuck, stopped("x", Status.CRASHED, "exit()")]))
    assert [(one.title, one.submissions, one.unfolded) for one in found] == [
        ("Ended the Python process", "1 submission", True),
        ("Ran for too long", "40 submissions", False),
    ]


def test_a_class_in_which_all_is_well_has_nothing_for_a_person() -> None:
    shown = text(all_passed())
    assert "For a person to look at" not in shown
    assert "Stages by difficulty" not in shown


def test_mistakes_say_who_made_them_most_frequent_first() -> None:
    again = scaled_by_embed_dim().model_copy(update={"submission": "zoe"})
    first, second = tallies(summaries([again, two_mistakes(), scaled_by_embed_dim()]))
    assert (first.id, first.submissions, first.percent) == ("scale-by-embed-dim", "2 submissions", 100.0)
    assert [one.name for one in first.people] == ["brown-li", "zoe"]
    assert (second.id, second.percent) == ("overlapping-patches", 50.0)


def test_a_mistake_made_twice_by_one_is_one_submission_at_the_first_stage() -> None:
    made = [
        MistakeResult(id="twice", stage=stage, kind="error", title="t", hint="?") for stage in ("S16", "S19")
    ]
    (tally,) = tallies(summaries([result("x", mistakes=made)]))
    assert (tally.stage, tally.submissions) == ("S16", "1 submission")


def test_stages_are_hard_by_the_share_of_those_in_which_they_were_judged() -> None:
    wrong, missing = ({"status": one} for one in (StageStatus.FAILED, StageStatus.NOT_REACHED))
    class_ = [
        result("a", stages={"S04": stage("S04", **wrong), "S12": stage("S12", **wrong)}),
        result("b", stages={"S12": stage("S12", **missing)}),
        result("c", stages={"S12": stage("S12", **missing)}),
    ]
    found = [(one.label, one.text, one.percent) for one in difficulties(summaries(class_))]
    assert found == [("S12", "1 of 1", 100.0), ("S04", "1 of 3", 33.3)]


def test_marks_fall_into_bins_and_full_marks_into_the_last() -> None:
    drawn = histogram([0.0, 9.9, 10.0, 100.0, 95.0, 90.0])
    assert [one.count for one in drawn.bins] == [2, 1, 0, 0, 0, 0, 0, 0, 0, 3]
    assert [one.height for one in drawn.bins][:2] == [66.7, 33.3]
    said = "0 to 10 percent: 2, 10 to 20 percent: 1, 90 to 100 percent: 3"
    assert drawn.description == f"How many submissions have a score of {said}"


@pytest.mark.parametrize(("override", "percent"), [(250.0, 100.0), (-1.0, 0.0), (50.0, 50.0)])
def test_more_and_less_than_all_points_have_a_place_among_the_marks(override: float, percent: float) -> None:
    (row,) = summaries([decided(all_passed(), Adjustment(override=override))])
    assert row.percent == percent


def test_what_can_be_asked_for_is_what_there_is() -> None:
    read = page(render_index(summaries(a_class())))
    assert "any nothing wrong something wrong not loaded timed out" in read.text
    assert "any S02 S03 S12 S18" in read.text


def test_a_hostile_class_is_text() -> None:
    shown = page(render_index(summaries(a_class())))
    assert "\\x1b[2J<script>alert(1)</script> {{ 7*7 }} \\u202eevil\\u200b" in shown.text
    assert HOSTILE not in render_index(summaries(a_class()))
