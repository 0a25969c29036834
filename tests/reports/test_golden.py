"""How a page looks at its top or at one stage, against pictures of it that were looked at.

Run ``python tests/reports/test_golden.py`` to take the pictures again after a change that was meant, and look
at them before they are committed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from chromium import launched
from classes_drawn import drawn_class
from PIL import Image
from playwright.sync_api import Browser
from records import record, snapshot
from samples import not_loaded

from vitcheck.reports.pages.html import render_index, render_report, render_snapshot
from vitcheck.reports.views.summaries import summaries

FOLDER = Path(__file__).parent / "golden"
PAGES = {
    "right": render_report(record("fused_attention")),
    "wrong": render_report(record("two_mistakes")),
    "stopped": render_report(not_loaded()),
    "class": render_index(summaries(drawn_class(40))),
    "sheet": render_index(summaries(drawn_class(40))),
    "key": render_snapshot(snapshot("answer_key")),
    "traced": render_snapshot(snapshot("traced")),
}
FIRST = {"sheet": "#submissions"}  # what stands at the top of a picture, if it is not the top of the page
OPENED = {"key": "S13", "traced": "S13"}  # shown from this stage on, where the picture is
DARK = {("wrong", 1100), ("sheet", 1100)}
SHRUNK = {320: 1, 1100: 3, 2560: 5}  # widths of the window, and how much smaller their pictures are kept
HEIGHT = 1500

# Other fonts move letters by a pixel or two, which shrinking and these limits let pass. Of another page
# of the same width at least 4 in a hundred pixels are plainly different.
PLAIN = 40  # of 255: a letter on its paper, a line where there was none
SHARE = 0.03

UNFOLD = """name => {
  const stage = document.getElementById(name).closest("details");
  stage.open = true;
  stage.scrollIntoView();
}"""

Picture = Image.Image


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as chromium:
        yield chromium


def shot(browser: Browser, name: str, width: int) -> Picture:
    page = browser.new_page(
        viewport={"width": width, "height": HEIGHT},
        color_scheme="dark" if (name, width) in DARK else "light",
    )
    page.set_content(PAGES[name])
    page.locator(FIRST.get(name, "body")).evaluate("one => one.scrollIntoView()")
    if name in OPENED:
        page.evaluate(UNFOLD, f"stage-{OPENED[name]}")
    whole = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    return whole.resize((width // SHRUNK[width], HEIGHT // SHRUNK[width]), Image.Resampling.BOX)


def differing(one: Picture, other: Picture) -> float:
    """The share of pixels that differ plainly in any channel."""
    apart = np.abs(np.asarray(one, dtype=int) - np.asarray(other.convert("RGB"), dtype=int))
    return float((apart.max(-1) > PLAIN).mean())


def golden(name: str, width: int) -> Picture:
    return Image.open(FOLDER / f"{name}-{width}.png")


@pytest.mark.parametrize("width", SHRUNK)
@pytest.mark.parametrize("name", PAGES)
def test_the_page_looks_as_it_did(browser: Browser, name: str, width: int) -> None:
    assert differing(shot(browser, name, width), golden(name, width)) < SHARE


@pytest.mark.parametrize("width", SHRUNK)
def test_another_page_is_not_taken_for_it(width: int) -> None:
    others = {(one, other) for one in PAGES for other in PAGES if one != other}
    for one, other in others:
        assert differing(golden(one, width).convert("RGB"), golden(other, width)) > SHARE


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    with launched() as started:
        for page_name in PAGES:
            for at in SHRUNK:
                taken = shot(started, page_name, at).quantize(48, dither=Image.Dither.NONE)
                taken.save(FOLDER / f"{page_name}-{at}.png", optimize=True)
