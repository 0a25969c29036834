"""Every text is in the catalogue, and every text in it is used."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from vitcheck.reports.words.wording import count, say, speaking_of, words

REPORTS = Path(__file__).parents[2] / "reports"
SOURCES = [*REPORTS.rglob("*.py"), *REPORTS.rglob("*.html")]
CODE = "\n".join(path.read_text("utf-8") for path in SOURCES)
FIGURES = re.findall(r"_(?:figure|map_of)\(\"([a-z_]+)\"", CODE)  # each has texts of the same names
ASKED = {*re.findall(r"[\"']([a-z_]+\.[a-z_]+)[\"']", CODE)} & {*words()}
ASKED |= {f"{name}.{text}" for name in FIGURES for text in ("title", "sentence", "map")} & {*words()}
SUBJECTS = ("picture.", "reference.")
FAMILIES = {*re.findall(r"f[\"']([a-z_]+\.)\{", CODE)}  # such as f"state.{self.style}"


def test_every_text_that_is_asked_for_is_there() -> None:
    direct = set(re.findall(r"say\(\s*[\"']([^\"']+)[\"']", CODE))
    assert direct
    assert direct <= {*words()}


def test_every_text_is_used() -> None:
    own = {key for key in words() if key.startswith(SUBJECTS)}
    unused = {key for key in words() if key not in ASKED and not key.startswith(tuple(FAMILIES))} - own
    assert unused == set()
    assert {key.partition(".")[2] for key in own} <= {*words()}  # what they stand in for


def test_a_subject_has_words_of_its_own_where_they_differ() -> None:
    with speaking_of("reference", "picture"):
        assert say("stage.yours", label="S12") == "S12"
        assert say("run.sizes") == "Sizes"
        assert say("figure.expected") == "expected"
    assert say("stage.yours", label="S12") == "Your S12"


def test_places_are_filled_and_missing_ones_are_an_error() -> None:
    assert say("findings.line", line=3) == "line 3"
    with pytest.raises(KeyError):
        say("findings.line")
    assert all(name != "" for text in words().values() for _, name, *_ in Formatter().parse(text))


def test_one_is_counted_in_the_singular_and_thousands_are_set_apart() -> None:
    assert (count(1, "submission"), count(1200, "submission")) == ("1 submission", "1,200 submissions")
    assert (count(1, "late_day"), count(0, "late_day")) == ("1 late day", "0 late days")
