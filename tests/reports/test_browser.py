"""The pages as a browser shows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from samples import a_class

from vitcheck.reports import render_index, render_report, summaries

PAGES = {one.submission[:9].strip("="): render_report(one) for one in a_class()} | {
    "index": render_index(summaries(a_class()))
}

# Relative luminance and contrast as WCAG 2.2 defines them, for every element that holds text of its own.
LOW_CONTRAST = """() => {
  const channels = text => [...text.match(/[\\d.]+/g).map(Number), 1].slice(0, 4);
  const light = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const background = node => {
    for (; node; node = node.parentElement) {
      const color = channels(getComputedStyle(node).backgroundColor);
      if (color[3]) return color;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  for (const node of document.querySelectorAll("body *")) {
    if (![...node.childNodes].some(one => one.nodeType === 3 && one.textContent.trim())) continue;
    const [a, b] = [luminance(channels(getComputedStyle(node).color)), luminance(background(node))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.add(`${node.tagName}.${node.className} ${contrast.toFixed(2)}`);
  }
  return [...found];
}"""


@pytest.fixture(params=PAGES)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(PAGES[request.param], encoding="utf-8")
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


@pytest.mark.parametrize("width", [320, 900])
def test_the_page_is_never_wider_than_its_window(browser: Browser, file: Path, width: int) -> None:
    page = opened(browser, file, width)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(browser: Browser, file: Path, scheme: str) -> None:
    page = opened(browser, file, 900, scheme)
    assert page.evaluate(LOW_CONTRAST) == []
    page.close()


def test_a_link_to_a_folded_stage_unfolds_it(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGES["brown-li"], encoding="utf-8")
    page = opened(browser, path, 900)
    assert not page.locator("#stage-S04 .equation").is_visible()
    page.click("a.tile[href='#stage-S04']")
    page.locator("#stage-S04 .equation").wait_for(state="visible", timeout=2000)
    page.close()


def test_paper_shows_what_the_screen_folds(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGES["brown-li"], encoding="utf-8")
    page = opened(browser, path, 900)
    page.emulate_media(media="print")
    assert page.locator("#stage-S04 .equation").is_visible()
    page.close()
