"""Names that look alike, though they are different ones."""

from __future__ import annotations

import pytest
from samples import all_passed

from vitcheck.reports.pages.html import render_index
from vitcheck.reports.views.summaries import summaries
from vitcheck.reports.words.alike import alike, skeleton
from vitcheck.reports.words.text import one_line

CYRILLIC = "\u0430nn"


@pytest.mark.parametrize(
    "name",
    [
        CYRILLIC,
        "\uff41nn",
        "ann\u3164",
        "a\u2800nn",
        "ann\ufe0f",
        "an\u200bn",
        "Ann",
        "ann ",
        "\u202eann",
        "a\u034fnn",
    ],
)
def test_names_that_cannot_be_told_from_another_look_alike(name: str) -> None:
    assert skeleton(name) == skeleton("ann")
    assert set(alike(["ann", "bob", name])) == {"ann", name}


@pytest.mark.parametrize(
    "names",
    [
        ("ann", "anna"),
        ("José", "Jose"),
        ("राम", "रमा"),
        ("กิน", "กัน"),
        ("Иван", "Ивана"),
        ("李雷", "李蕾"),
        ("smithann_1234", "smithann_1235"),
    ],
)
def test_names_of_honest_people_do_not(names: tuple[str, str]) -> None:
    assert alike(names) == {}


def test_the_page_of_a_class_tells_them_apart_and_asks_a_person_to_look() -> None:
    result = all_passed()
    rows = summaries(result.model_copy(update={"submission": name}) for name in (CYRILLIC, "ann", "bob"))
    assert [one.name for one in rows] == [
        "ann (1 of 2 that look alike)",
        "bob",
        f"{CYRILLIC} (2 of 2 that look alike)",
    ]
    assert [one.submission for one in rows] == ["ann", "bob", CYRILLIC]  # links, grades and decisions
    page = render_index(rows)
    assert "Has a name that looks like another one" in page
    assert "\\u0430nn looks like ann." in page


def test_marks_are_bounded_and_belong_to_a_letter() -> None:
    assert one_line("Z" + "\u0301" * 100).count("\u0301") == 4
    assert one_line("\u0336all of it") == "\\u0336all of it"
    assert one_line("שָׁ֑לוֹם Việt व्यक्ति ❤\ufe0f") == "שָׁ֑לוֹם Việt व्यक्ति ❤\ufe0f"
