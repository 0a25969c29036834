"""The page of one question over all students, offline: what it saves is what the gradebook reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page
from samples import HOSTILE
from test_pages import page as read_page
from test_written_pages import with_report

from vitcheck.__main__ import main
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.gradebook.work import Work
from vitcheck.checks.record.adjustment import Adjustment
from vitcheck.checks.record.grade import decided
from vitcheck.checks.record.result import Result
from vitcheck.reports.pages.html import render_index
from vitcheck.reports.views.summaries import summaries
from vitcheck.reports.writer import write_class

NAMES = ("ann", '=bob "b", jr', "cleo")


def a_class(text: str = "Order is lost.") -> list[Result]:
    found = [with_report(text).model_copy(update={"submission": name}) for name in NAMES]
    return [decided(found[0], Adjustment(marks={"q1": 1.5})), *found[1:]]


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    write_class(a_class(), tmp_path)
    page = browser.new_page(accept_downloads=True)
    page.goto((tmp_path / "marking" / "q1.html").as_uri())
    yield page
    page.close(run_before_unload=False)


def test_what_is_saved_is_what_the_gradebook_reads(page: Page, tmp_path: Path) -> None:
    assert page.get_by_role("status").inner_text() == "1 of 3 answers are marked."
    bob, _, cleo = page.get_by_role("spinbutton").all()  # by name
    bob.fill("2")
    cleo.fill("0.25")
    assert page.get_by_role("status").inner_text() == "3 of 3 answers are marked."
    with page.expect_download() as download:
        page.get_by_role("button").click()
    assert download.value.suggested_filename == "marks-q1.csv"
    download.value.save_as(tmp_path / "marks.csv")
    place = str(tmp_path / "g.sqlite")
    with open_gradebook(place, create=True) as book:
        run = book.begin(Work("vit-debugging", "d", "d", dict.fromkeys(NAMES, "x"), "1.0", "auto"), 7)
        for one in a_class():
            book.record(run, "x", one)
    marked = CliRunner().invoke(
        main, ["gradebook", "mark", "--csv", str(tmp_path / "marks.csv"), "--gradebook", place]
    )
    assert marked.exit_code == 0, marked.output
    with open_gradebook(place) as book:
        marks = {one.attempt.submission: dict(one.adjustment.marks) for one in book.entries()}
    assert marks == dict(zip(NAMES, [{"q1": 1.5}, {"q1": 2.0}, {"q1": 0.25}], strict=True))


def test_more_points_than_there_are_are_not_saved(page: Page) -> None:
    page.get_by_role("spinbutton").first.fill("7")
    page.get_by_role("button").click()
    assert page.evaluate("document.querySelector('input:invalid') !== null")


def test_what_is_not_marked_yet_is_counted_on_the_page_of_the_class(tmp_path: Path) -> None:
    text = read_page(render_index(summaries(a_class()))).text
    assert "q1 2 of 3 answers not marked yet" in text
    assert "Answers in writing 2 of 3 answers not marked yet" in text


def test_what_students_wrote_is_text_on_it(tmp_path: Path) -> None:
    write_class(a_class(HOSTILE), tmp_path)
    read = read_page((tmp_path / "marking" / "q1.html").read_text())
    assert "<script>alert(1)</script>" in read.text
    assert sum(tag == "script" for tag, _ in read.tags) == 1


def test_answers_of_who_is_gone_are_gone(tmp_path: Path) -> None:
    write_class(a_class(), tmp_path)
    write_class([], tmp_path)
    assert [*(tmp_path / "marking").iterdir()] == []


def test_there_is_none_where_answers_have_no_points(tmp_path: Path) -> None:
    write_class([with_report(points=0)], tmp_path)
    assert not (tmp_path / "marking").exists()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("submission,q1\nann,lots\n", "row 2: lots is not a number of points"),
        ("submission,q9\nann,1\n", "there is no question q9"),
        ("submission,q1\nann,9\n", "q1 is worth 2"),
        ("student,q1\nann,1\n", "has no column submission"),
    ],
)
def test_a_table_with_a_fault_marks_nothing(tmp_path: Path, table: str, message: str) -> None:
    (tmp_path / "marks.csv").write_text(table)
    place = str(tmp_path / "g.sqlite")
    with open_gradebook(place, create=True) as book:
        run = book.begin(Work("vit-debugging", "d", "d", {"ann": "x"}, "1.0", "auto"), 7)
        book.record(run, "x", a_class()[0])
    run_ = CliRunner().invoke(
        main, ["gradebook", "mark", "--csv", str(tmp_path / "marks.csv"), "--gradebook", place]
    )
    assert (run_.exit_code, message in " ".join(run_.output.split())) == (2, True), run_.output
