"""The pages as a browser shows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from classes_drawn import drawn_class
from playwright.sync_api import Browser, Page
from records import NAMES, SNAPSHOTS, record, snapshot
from samples import a_class

from vitcheck.reports.pages.html import render_index, render_report, render_snapshot
from vitcheck.reports.views.summaries import summaries

PAGES = {one.submission[:9].strip("="): render_report(one) for one in a_class()}
PAGES |= {name: render_report(record(name)) for name in NAMES}
PAGES |= {name: render_snapshot(snapshot(name)) for name in SNAPSHOTS}
PAGES |= {"index": render_index(summaries(a_class())), "drawn": render_index(summaries(drawn_class(40)))}

UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
GUIDELINES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"], "resultTypes": ["violations"]}  # alone change

# What can be used, and so has to be reached by keyboard.
USABLE = """() => [...document.querySelectorAll("a[href], summary, [tabindex], input, select, button")]
  .filter(one => one.checkVisibility() && one.getClientRects().length)
  .filter(one => !one.closest("details:not([open])") || one.tagName === "SUMMARY").length"""
FOCUSED = """() => {
  const one = document.activeElement;
  one.dataset.number ??= document.querySelectorAll("[data-number]").length + 1;
  return one === document.body ? null : one.dataset.number;
}"""


DISPLAY = "one => getComputedStyle(one).display"


@pytest.fixture(params=PAGES)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return written(request.param, tmp_path)


def written(name: str, folder: Path) -> Path:
    path = folder / "page.html"
    path.write_text(PAGES[name], encoding="utf-8")
    return path


def opened(browser: Browser, file: Path, width: int, scheme: str = "light") -> Page:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]  # one of two
    page.goto(file.as_uri())
    return page


def test_the_console_stays_empty_and_nothing_is_requested(browser: Browser, file: Path) -> None:
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    assert said == []
    page.close()


def test_the_page_is_never_wider_than_its_window(browser: Browser, file: Path) -> None:
    page = opened(browser, file, 900)
    page.evaluate(UNFOLD)
    for width in (320, 900, 2560):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize(("scheme", "guidelines"), [("light", GUIDELINES), ("dark", COLOURS)])
def test_the_page_keeps_the_accessibility_guidelines(
    browser: Browser, file: Path, scheme: str, guidelines: dict[str, list[str]]
) -> None:
    page = opened(browser, file, 900, scheme)
    page.evaluate(UNFOLD)
    found = Axe().run(page, options=guidelines)
    assert found.violations_count == 0, found.generate_report()
    page.close()


@pytest.mark.parametrize("name", ["two_mistakes", "diaz_2", "traced", "index"])
def test_the_keyboard_reaches_everything_that_can_be_used(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    page = opened(browser, written(name, tmp_path), 900)
    reached: set[str] = set()
    page.keyboard.press("Tab")
    while (one := page.evaluate(FOCUSED)) not in {None, *reached}:
        reached.add(one)
        page.keyboard.press("Tab")
    assert len(reached) == page.evaluate(USABLE)
    page.close()


def test_a_link_to_a_folded_stage_unfolds_it(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, written("brown-li", tmp_path), 900)
    assert not page.locator("#stage-S04 .equation").is_visible()
    page.click("a.node[href='#stage-S04']")
    page.locator("#stage-S04 .equation").wait_for(state="visible", timeout=2000)
    page.close()


def test_paper_has_what_is_wrong_and_leaves_out_what_is_right(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, written("two_mistakes", tmp_path), 900)
    page.emulate_media(media="print")
    for shown in ("#standing", ".step.pictures .figure", "#stage-S13 .equation", "#stage-S19 .figures"):
        assert page.locator(shown).first.is_visible(), shown
    for left_out in ("#stage-S14", ".others", ".explained", "#stage-S13 .figures"):
        assert not page.locator(left_out).first.is_visible(), left_out
    page.close()


def test_paper_has_few_pages(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, written("two_mistakes", tmp_path), 900)
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 6
    page.close()


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_the_question_is_in_the_first_screen(
    browser: Browser, tmp_path: Path, width: int, height: int
) -> None:
    page = opened(browser, written("two_mistakes", tmp_path), width)
    box = page.locator(".standing .question").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < height
    page.close()


def test_the_row_of_stages_stays_in_sight(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, written("two_mistakes", tmp_path), 900)
    page.click("nav.strip a[href='#stage-S19']")
    page.wait_for_function("scrollY > 500")
    strip, stage = (page.locator(one).bounding_box() for one in ("nav.strip", "#stage-S19"))
    assert strip is not None
    assert stage is not None
    assert strip["y"] == 0
    assert stage["y"] >= strip["height"]
    page.close()


def test_numbers_are_read_under_the_pointer_and_by_arrow_keys(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, written("two_mistakes", tmp_path), 1400)
    page.click(".step.pictures summary")
    panels = page.locator(".standing .panels[data-cell]").first
    panels.locator("svg").nth(1).hover(position={"x": 20, "y": 20})
    assert "row 0, column 0: head 1: yours" in panels.locator(".read").inner_text()
    assert panels.locator(".lit").count() == 3
    panels.focus()
    page.keyboard.press("ArrowDown")
    assert "row 1, column 0" in panels.locator(".read").inner_text()
    page.close()


def test_the_drawing_is_joined_beside_or_below_as_there_is_room(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, written("two_mistakes", tmp_path), 1400)
    for width, shown, hidden in ((1400, "beside", "stacked"), (390, "stacked", "beside")):
        page.set_viewport_size({"width": width, "height": 800})
        drawn = {one: page.locator(f".diagram .{one}").first.evaluate(DISPLAY) for one in (shown, hidden)}
        assert drawn == {shown: "inline", hidden: "none"}
    page.close()
