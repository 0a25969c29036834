"""Questions are found by their number or their words, with what stands below them, and never judged."""

from __future__ import annotations

import pytest
import written_reports
from test_written_snapshots import ASKED, READERS

from vitcheck.checks.record.written_result import AnswerResult
from vitcheck.checks.written.answers import answers
from vitcheck.submissions.written import markdown
from vitcheck.submissions.written.passages import Passage, PassageKind
from vitcheck.submissions.written.reading import WrittenReport

OTHER_WORDS = [  # as other sheets put the same questions
    "Why do we need to split the image into patches first?",
    "Why is a CLS token added, and how does it change the shape of the sequence?",
    "Why are positional encodings needed?",
    "Why do Q, K, and V have one dimension, and how do attention weights scale with the patch count?",
    "How do the residual connections keep the shape consistent across the encoder blocks?",
    "Why is only the class token used for classification?",
]


def found(text: str) -> dict[str, AnswerResult]:
    document = WrittenReport("report.md", tuple(markdown.passages_of(text)))
    return {one.id: one for one in answers([document], ASKED.questions)}


def in_lines(text: str) -> dict[str, str | None]:
    lines = tuple(Passage(PassageKind.TEXT, one, page=1) for one in text.splitlines() if one.strip())
    return {one.id: one.answer for one in answers([WrittenReport("r.pdf", lines)], ASKED.questions)}


@pytest.mark.parametrize("form", ["## {n}. {q}\n\n{a}\n", "**Q{n}: {q}**\n\n{a}\n", "### {q}\n\n{a}\n"])
def test_questions_in_other_words_are_found_with_their_answers(form: str) -> None:
    text = "\n".join(
        form.format(n=number, q=question, a=f"Answer number {number}.")
        for number, question in enumerate(OTHER_WORDS, 1)
    )
    assert {id: one.answer for id, one in found(text).items()} == {
        f"q{number}": f"Answer number {number}." for number in range(1, 7)
    }


def test_lines_of_a_pdf_are_put_together_until_the_next_question() -> None:
    text = "".join(f"{n}. {q}\nFirst line {n},\nsecond line.\n" for n, q in enumerate(OTHER_WORDS, 1))
    told = in_lines(f"{text}4 Reflection\nI learned much.")
    assert told == {f"q{n}": f"First line {n},\nsecond line." for n in range(1, 7)}


def test_an_answer_on_the_line_of_its_question_is_taken() -> None:
    assert found("Q3. Why are positional encodings needed? Order is lost.")["q3"].answer == "Order is lost."


def test_a_number_alone_is_enough_only_where_it_is_a_question() -> None:
    assert found("## Question 5\n\nBoth sides have one shape.")["q5"].answer == "Both sides have one shape."
    assert all(one.answer is None for one in found("1. Install PyCharm and the packages\n2. Run it").values())


def test_headings_below_a_question_belong_to_the_answer_and_others_end_it() -> None:
    text = f"## {OTHER_WORDS[2]}\n\nOne.\n\n### In detail\n\nTwo.\n\n## Setup\n\nThree."
    assert found(text)["q3"].answer == "One.\nIn detail\nTwo."


@pytest.mark.parametrize("name", written_reports.KINDS)
def test_the_answer_is_found_in_every_kind_of_file(name: str) -> None:
    passages = tuple(READERS[f".{name.partition('.')[2]}"].passages(written_reports.KINDS[name]()))
    told = {one.id: one for one in answers([WrittenReport(name, passages)], ASKED.questions)}
    assert told["q3"].answer == written_reports.ANSWER
    assert told["q3"].where == name
    assert [id for id, one in told.items() if one.answer is not None] == ["q3"]


def test_question_rubric_and_points_are_the_assignments() -> None:
    told = found("")
    assert list(told) == ["q1", "q2", "q3", "q4", "q5", "q6"]
    assert told["q2"].question == ASKED.questions["q2"].text
    assert told["q2"].rubric == ASKED.questions["q2"].rubric
