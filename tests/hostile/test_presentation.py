"""What a hostile submission gets is shown as text, wherever it is shown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks.attack import Attack
from attacks.presenting import ATTRIBUTE, IMAGE, PRESENTING, SCRIPT
from grading import graded, met
from playwright.sync_api import Browser
from rich.console import Console

from vitcheck.checks.record.pairs import Pair
from vitcheck.checks.record.result import CodeLine, Result
from vitcheck.checks.record.snapshot import PictureResult, Snapshot
from vitcheck.reports.figures.kept import Arrays
from vitcheck.reports.formats.grade_tables import grades_csv, grades_json
from vitcheck.reports.pages.html import render_index, render_report, render_similar, render_snapshot
from vitcheck.reports.snapshot_table import snapshot_table
from vitcheck.reports.terminal import verdict
from vitcheck.reports.views.summaries import summaries
from vitcheck.submissions.host.process import Zygote

_NAMES = (SCRIPT, IMAGE, ATTRIBUTE, "=1+1", "@SUM(A1)", "＝1+1", "line\nend", "\x1b[2J", "\u202eevil")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝")
_MOST_CHARACTERS = 1_000_000  # of a page or record: those of an honest submission have a quarter of it


@pytest.fixture(scope="module")
def results(confined: Zygote, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """The record of every attack, and of one for each name that a hostile file may have."""
    folder = tmp_path_factory.mktemp("presenting")
    found = {one.name: graded(one, folder, confined) for one in PRESENTING}
    some = found[PRESENTING[0].name]
    return found | {name: some.model_copy(update={"submission": name}) for name in _NAMES}


def pages(results: dict[str, Result]) -> Iterator[tuple[str, int]]:
    """All pages, and how many scripts of ours are in each: to filter a class, and to read numbers."""
    for result in results.values():
        yield render_report(result), int(bool(Arrays.read(result.arrays).stages))
        yield render_snapshot(traced(result)), 0
    yield render_similar([alike(name) for name in results], len(results), {name: name for name in results}), 0
    yield render_index(summaries(results.values())), 1


def alike(name: str) -> Pair:
    """Two submissions of that name, which share a line with it."""
    lines = (CodeLine(number=1, text=name, marked=True),)
    return Pair(name, name, (1, 1), (lines, lines))


def traced(result: Result) -> Snapshot:
    """The same as the command shows it that follows a picture, which has the name of the submission."""
    return Snapshot.of(result, PictureResult(name=result.submission, width=1, height=1))


@pytest.mark.parametrize("attack", PRESENTING, ids=lambda one: one.name)
def test_an_attack_on_readers_gets_what_it_earned(attack: Attack, results: dict[str, Result]) -> None:
    met(attack.expected, results[attack.name])


def test_pages_hold_nothing_that_a_student_wrote_but_text(results: dict[str, Result]) -> None:
    for page, scripts in pages(results):
        assert len(page) < _MOST_CHARACTERS
        assert page.lower().count("<script") == scripts
        assert "onerror='" not in page
        assert all(one == "\n" or one.isprintable() for one in page)


def test_records_stay_small_and_can_be_read_again(results: dict[str, Result]) -> None:
    for result in results.values():
        text = result.to_json()
        assert len(text) < _MOST_CHARACTERS
        read = Result.from_json(text.encode(), result.arrays)
        assert Result.from_json(read.to_json().encode(), read.arrays) == read


def test_no_terminal_is_driven(results: dict[str, Result]) -> None:
    for result in results.values():
        shown = io.StringIO()
        Console(file=shown, width=100).print(verdict(result), snapshot_table(traced(result)))
        assert all(one == "\n" or one.isprintable() for one in shown.getvalue())


def test_no_cell_of_the_grades_is_a_formula(results: dict[str, Result]) -> None:
    rows = list(csv.reader(io.StringIO(grades_csv(summaries(results.values())))))
    assert len(rows) == len(results) + 2
    assert not [cell for row in rows for cell in row if cell.startswith(_FORMULA)]


def test_grades_for_programs_are_plain_text_and_keep_names_as_they_are(
    results: dict[str, Result],
) -> None:
    text = grades_json(summaries(results.values()))
    assert text.isascii()
    assert all(one == "\n" or one.isprintable() for one in text)
    read = {row["submission"] for row in json.loads(text)["submissions"]}
    assert read == {result.submission for result in results.values()}


def test_no_browser_runs_what_a_student_wrote(
    results: dict[str, Result], browser: Browser, tmp_path: Path
) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    file = tmp_path / "page.html"
    for text, scripts in pages(results):
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        assert page.evaluate("window.hacked") is None
        assert page.locator("svg[onload], img[onerror], [onload]").count() == 0
        assert page.locator("script").count() == scripts
    assert {one for one in asked if not one.startswith("data:")} == {file.as_uri()}
    page.close()
