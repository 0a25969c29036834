"""What a notebook shows of a result: closed in itself, safe, and legible in every theme."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from records import record
from samples import all_passed, hostile, not_loaded, scaled_by_embed_dim
from test_browser import GUIDELINES
from test_pages import page

from vitcheck.reports.pages.notebook_cell import elsewhere, render_for_notebook

OUTPUTS = {
    "right": render_for_notebook(all_passed()),
    "wrong": render_for_notebook(record("two_mistakes")),
    "one stage": render_for_notebook(record("two_mistakes"), "S13"),
    "stopped": render_for_notebook(not_loaded()),
    "hostile": render_for_notebook(hostile()),
    "hostile stage": render_for_notebook(hostile(), "S12"),
}
CARDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(26, 30, 38)"}  # what it is written on, in each theme


@pytest.mark.parametrize("name", OUTPUTS)
def test_it_holds_nothing_that_acts_or_meets_what_else_is_on_the_page(name: str) -> None:
    read = page(OUTPUTS[name])
    assert {tag for tag, _ in read.tags} <= {
        *("div", "style", "p", "span", "bdi", "code", "i", "figure", "figcaption", "pre", "b"),
        *("ul", "li", "h3", "svg", "g", "path", "rect", "text", "strong"),
        *("details", "summary", "dl", "dt", "dd", "mark"),
    }
    assert not {*read.values("id"), *read.values("href"), *read.values("src")}
    assert not {attribute for _, given in read.tags for attribute in given if attribute.startswith("on")}
    assert len(OUTPUTS[name]) < 60_000


def test_every_rule_of_its_style_is_about_itself() -> None:
    style = OUTPUTS["right"].partition("<style>")[2].partition("</style>")[0]
    depth, outer = 0, []
    for part in style.replace("{", "\n{\n").replace("}", "\n}\n").split("\n"):
        if part == "{":
            depth += 1
        elif part == "}":
            depth -= 1
        elif part.strip() and depth == 0 and not part.startswith("@media"):
            outer.append(part)
    assert len(outer) > 3
    assert all(".vitcheck-result" in one for one in outer)


def test_the_first_mistake_and_the_pipeline_are_shown() -> None:
    text = page(render_for_notebook(scaled_by_embed_dim())).text
    assert "S12 attention scores · vit_transformer.py, line 58 Scores divided by" in text
    assert text.count("S26") == 2  # in the row of signs, and in the pipeline that is unfolded below it


def test_without_its_style_each_line_of_code_is_a_line_and_each_sign_stands_apart() -> None:
    bare = re.sub(
        r"<style>.*?</style>|<[^>]+>", "", render_for_notebook(scaled_by_embed_dim()), flags=re.DOTALL
    )
    lines = bare.splitlines()
    (at,) = (number for number, line in enumerate(lines) if line.startswith("▸58 "))
    assert [line[:4].strip() for line in lines[at - 1 : at + 3]] == ["57 #", "▸58", "→ S1", "59 a"]
    assert "✗ S12" in lines


def test_a_stage_that_was_asked_about_takes_the_place_of_the_verdict() -> None:
    text = page(render_for_notebook(scaled_by_embed_dim(), "S05")).text
    assert "S05: class token, before concat, right" in text
    assert "Wrong in the same code: S12: attention scores" in text


def test_nothing_is_said_of_elsewhere_where_the_stage_itself_is_wrong_or_all_is_right() -> None:
    assert elsewhere(all_passed(), "S12") == ""
    assert elsewhere(scaled_by_embed_dim(), "S12") == ""


def notebook(theme: str) -> str:
    """A page as JupyterLab has it, in one of its themes."""
    light = "true" if theme == "light" else "false"
    paper, ink = ("#fff", "#111") if theme == "light" else ("#111", "#eee")
    cells = "".join(f"<h2>{name}</h2>{text}" for name, text in OUTPUTS.items())
    return (
        f'<html lang="en"><title>A notebook</title>'
        f'<body data-jp-theme-light="{light}" style="background: {paper}; color: {ink}">'
        f"<main><h1>Cells</h1>{cells}</main></body></html>"
    )


@pytest.mark.parametrize("theme", CARDS)
@pytest.mark.parametrize("system", ["light", "dark"])
def test_it_keeps_the_accessibility_guidelines_in_every_theme(
    browser: Browser, theme: str, system: str
) -> None:
    opened = browser.new_page(color_scheme=system)  # type: ignore[arg-type]  # one of two
    opened.set_content(notebook(theme))
    style = "getComputedStyle(document.querySelector('.vitcheck-result'))"
    assert opened.evaluate(f"{style}.backgroundColor") == CARDS[theme]
    found = Axe().run(opened, options=GUIDELINES)
    assert found.violations_count == 0, found.generate_report()
    opened.close()


def test_it_fits_a_narrow_cell(browser: Browser) -> None:
    opened = browser.new_page(viewport={"width": 320, "height": 800})
    opened.set_content(OUTPUTS["wrong"] + OUTPUTS["hostile"])
    assert opened.evaluate("document.documentElement.scrollWidth") <= 320
    opened.close()
