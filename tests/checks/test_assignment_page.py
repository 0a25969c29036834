"""docs/assignment.md has every key that a file may hold."""

from __future__ import annotations

from assignment_table import DOCUMENT, MEANING, document


def test_the_page_is_what_the_models_say() -> None:
    assert DOCUMENT.read_text("utf-8") == document(), "run tests/checks/assignment_table.py"


def test_no_meaning_is_of_a_key_that_is_gone() -> None:
    text = document()
    assert [one for one in MEANING if f"| `{one.rpartition('.')[2]}` |" not in text] == []
