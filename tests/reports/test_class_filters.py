"""What the script on the page of a class does: filters, sorting, and the address that keeps both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from samples import a_class

from vitcheck.reports.pages.html import render_index
from vitcheck.reports.views.summaries import summaries

HOSTILE, ADAMS, BROWN, CHEN, DIAZ, EVANS = range(6)  # in the order of their names
ALL = [HOSTILE, ADAMS, BROWN, CHEN, DIAZ, EVANS]

SHOWN = """() => [...document.querySelectorAll(".class tbody tr")]
  .filter(row => row.checkVisibility()).map(row => row.querySelector("a").textContent)"""
NAMES = ["adams-zoe", "brown-li", "chen.omar", "diaz_2", "evans"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("class") / "index.html"
    file.write_text(render_index(summaries(a_class())), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    page = browser.new_page()
    page.goto(address)
    yield page
    page.close()


def shown(page: Page) -> list[int]:
    """The submissions that can be seen, from top to bottom."""
    names: list[str] = page.evaluate(SHOWN)
    return [NAMES.index(name) + 1 if name in NAMES else HOSTILE for name in names]


def said(page: Page) -> str:
    return page.get_by_role("status").inner_text()


def sort_by(page: Page, column: str) -> None:
    page.get_by_role("columnheader", name=column, exact=True).get_by_role("button").click()


def test_at_first_all_are_shown(page: Page) -> None:
    assert shown(page) == ALL
    assert said(page) == "6 of 6 submissions are shown."


@pytest.mark.parametrize(
    ("text", "expected"), [("ZOE", [ADAMS]), ("scale-by", [BROWN]), ("timed", [EVANS]), ("nobody", [])]
)
def test_a_text_is_looked_for_in_names_and_in_what_is_wrong(
    page: Page, text: str, expected: list[int]
) -> None:
    page.get_by_label("Name or text").fill(text)
    assert shown(page) == expected
    assert said(page) == f"{len(expected)} of 6 submissions are shown."


@pytest.mark.parametrize(
    ("filter_name", "option", "expected"),
    [
        ("Result", "nothing wrong", [ADAMS]),
        ("Result", "something wrong", [HOSTILE, BROWN, CHEN]),
        ("Result", "not loaded", [DIAZ]),
        ("Wrong stage", "S12", [HOSTILE, BROWN]),
        ("Wrong stage", "S18", [CHEN]),
        ("Mistake", "scale-by-embed-dim", [BROWN]),
    ],
)
def test_a_choice_shows_those_that_have_it(
    page: Page, filter_name: str, option: str, expected: list[int]
) -> None:
    page.get_by_role("combobox", name=filter_name).select_option(option)
    assert shown(page) == expected


def test_scores_have_a_lowest_and_a_highest_and_filters_add_up(page: Page) -> None:
    page.get_by_label("Score at least").fill("90")
    assert shown(page) == [HOSTILE, ADAMS, BROWN]
    page.get_by_label("Score at most").fill("99.5")
    assert shown(page) == [HOSTILE, BROWN]
    page.get_by_label("Name or text").fill("brown")
    assert shown(page) == [BROWN]
    page.get_by_role("button", name="Show all").click()
    assert shown(page) == ALL
    assert page.get_by_label("Score at least").input_value() == ""


def test_a_heading_sorts_and_once_more_the_other_way_round(page: Page) -> None:
    sort_by(page, "Score")
    assert shown(page) == [DIAZ, EVANS, CHEN, HOSTILE, BROWN, ADAMS]
    heading = page.get_by_role("columnheader", name="Score", exact=True)
    assert heading.get_attribute("aria-sort") == "ascending"
    sort_by(page, "Score")
    assert shown(page) == [ADAMS, HOSTILE, BROWN, CHEN, DIAZ, EVANS]
    assert heading.get_attribute("aria-sort") == "descending"
    assert page.locator("[aria-sort]").count() == 1


def test_a_stage_sorts_the_worst_first_and_a_name_restores_the_order(page: Page) -> None:
    sort_by(page, "S18")
    assert shown(page) == [CHEN, DIAZ, EVANS, HOSTILE, ADAMS, BROWN]
    sort_by(page, "Submission")
    assert shown(page) == ALL


def test_what_is_right_is_sorted_behind_what_is_wrong(page: Page) -> None:
    sort_by(page, "First thing wrong")
    assert shown(page)[-1] == ADAMS


def test_the_keyboard_alone_filters_and_sorts(page: Page) -> None:
    page.get_by_label("Name or text").focus()
    page.keyboard.type("an")  # in evans, brown-li has none
    page.keyboard.press("Tab")
    page.keyboard.press("n")  # nothing wrong
    assert page.get_by_role("combobox", name="Result").input_value() == "right"
    page.get_by_role("button", name="Show all").focus()
    page.keyboard.press("Enter")
    for _ in range(3):  # past the sheet and the heading of the names
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert shown(page) == [DIAZ, EVANS, CHEN, HOSTILE, BROWN, ADAMS]


def test_the_address_keeps_what_was_asked_for(page: Page, browser: Browser) -> None:
    page.get_by_role("combobox", name="Wrong stage").select_option("S12")
    sort_by(page, "Score")
    sort_by(page, "Score")
    assert page.url.endswith("#stage=S12&sort=-1")
    another = browser.new_page()
    another.goto(page.url)
    assert shown(another) == shown(page) == [HOSTILE, BROWN]
    assert another.get_by_role("combobox", name="Wrong stage").input_value() == "S12"
    another.close()


def test_a_link_within_the_page_leaves_the_filters_alone(page: Page) -> None:
    page.get_by_label("Name or text").fill("brown")
    page.locator(".skip").press("Enter")
    page.wait_for_url("**/index.html#content")
    assert shown(page) == [BROWN]


@pytest.mark.parametrize(
    "fragment", ["stage=S99&sort=999", "sort=x", "mistake=%22%3E&text=%00", "least=x&sort=--1"]
)
def test_an_address_that_asks_for_nonsense_is_no_error(browser: Browser, address: str, fragment: str) -> None:
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{address}#{fragment}")
    assert errors == []
    assert said(page).endswith("of 6 submissions are shown.")
    page.close()


def test_without_script_everything_can_be_read_and_nothing_is_offered_that_needs_one(
    browser: Browser, address: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator(".class tbody tr:visible").count() == 6
    assert page.locator("button:visible, input:visible, select:visible").count() == 0
    page.locator("code", has_text="scale-by-embed-dim").click()
    assert page.locator("details[open] a", has_text="brown-li").first.is_visible()
    context.close()


def test_no_script_runs_but_ours(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    foreign = "<script>window.hacked = true</script><img src=x onerror='window.hacked = true'>"
    file.write_text(
        render_index(summaries(a_class())).replace("</main>", f"{foreign}</main>"), encoding="utf-8"
    )
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.evaluate("window.hacked") is None
    assert page.locator("fieldset").is_visible()
    page.close()


def test_a_screen_reader_meets_a_table_with_headings(page: Page) -> None:
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
    assert (roles.count("table"), roles.count("columnheader")) == (1, 29)
    assert roles.count("row") == roles.count("rowheader") + 1 == 6 + 2  # the headings, and the sums
    assert {"S02 wrong", "S12 wrong"} <= {node["name"]["value"] for node in nodes if "name" in node}


def test_a_wrong_cell_leads_to_its_stage(page: Page) -> None:
    links = page.get_by_role("link", name="S12 wrong")
    assert links.last.get_attribute("href") == "brown-li/report.html#stage-S12"


def test_paper_has_the_whole_sheet_and_no_filters(page: Page) -> None:
    page.emulate_media(media="print")
    assert page.locator(".sheet").evaluate("one => getComputedStyle(one).overflow") == "visible"
    assert not page.locator("fieldset").is_visible()
