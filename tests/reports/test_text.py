from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitcheck.reports.words.text import clean, one_line, points, sentence, visible


@given(st.text())
def test_what_is_shown_can_be_seen(text: str) -> None:
    assert all(one == "\n" or one.isprintable() or one.isspace() for one in visible(text))
    assert not set(visible(text)) & {"\x1b", "\r", "\u202e", "\u2066", "\u200b", "\ufeff"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\u202eb", "a\\u202eb"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\U000e0041", "\\U000e0041"),
        ("half \ud800", "half \\ud800"),
        ("one\r\ntwo\tthree", "one\ntwo    three"),
        ("naïve Œuvre 模型 ✓", "naïve Œuvre 模型 ✓"),
    ],
)
def test_unseen_characters_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_long_text_says_how_much_is_missing() -> None:
    assert clean("x" * 1244, 10) == "xxxxxxxxxx… (1,234 more characters)"
    assert clean("x" * 10, 10) == "x" * 10


def test_one_line_has_no_line_end() -> None:
    assert one_line(" a\n  b\r\nc ") == "a b c"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("it is so", "It is so."),
        ("Is it?", "Is it?"),
        ("x" * 500, "X" + "x" * 399 + "… (100 more characters)."),
        ("vit.py is empty", "vit.py is empty."),
    ],
)
def test_sentence(text: str, shown: str) -> None:
    assert sentence(text) == shown


@pytest.mark.parametrize(
    ("number", "shown"), [(87.5, "87.5"), (100.0, "100"), (0.0, "0"), (1 / 3, "0.33"), (1234567.0, "1234567")]
)
def test_points(number: float, shown: str) -> None:
    assert points(number) == shown
