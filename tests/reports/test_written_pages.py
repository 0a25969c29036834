"""The written part on the pages: to the student what was found, to who marks the answers with the rubric."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import HOSTILE, all_passed
from test_pages import page

from vitcheck.checks.record.adjustment import Adjustment
from vitcheck.checks.record.grade import decided
from vitcheck.checks.record.result import Result
from vitcheck.checks.record.written_result import (
    AnswerResult,
    DocumentResult,
    SnapshotOutcome,
    SnapshotResult,
    WrittenResult,
)
from vitcheck.reports.pages.html import render_index, render_marking, render_report
from vitcheck.reports.views.summaries import summaries
from vitcheck.reports.writer import write_submission


def snapshot(outcome: SnapshotOutcome, stated: str = "", **more: object) -> SnapshotResult:
    return SnapshotResult.model_validate(
        {"outcome": outcome, "stated": [stated] if stated else [], "expected_shape": [1, 197, 768], **more}
    )


def with_report(text: str = "Order is lost.", points: float = 2) -> Result:
    """All in it that a student writes is ``text``."""
    written = WrittenResult(
        documents=[
            DocumentResult(name="report.md"),
            DocumentResult(name="scan.pdf", problem="it is damaged"),
        ],
        snapshots={
            "S06": snapshot(SnapshotOutcome.RIGHT, "(1, 197, 768)", agrees_with_code=True, where="report.md"),
            "S07": snapshot(SnapshotOutcome.WRONG, text, agrees_with_code=True, where=text),
            "S08": snapshot(SnapshotOutcome.WRONG, "(1, 196, 768)", agrees_with_code=False),
            "S09": snapshot(SnapshotOutcome.UNCLEAR, reason="there is a picture, and pictures are not read"),
            "S10": snapshot(SnapshotOutcome.NOT_FOUND, reason="it is not in the report"),
        },
        answers=[
            AnswerResult(id="q1", question="Why?", rubric="The secret rubric.", points=points, answer=text),
            AnswerResult(id="q2", question="How?", rubric="Another.", points=points),
        ],
    )
    return all_passed().model_copy(update={"written": written})


def test_a_student_reads_what_was_found_and_not_the_rubric() -> None:
    text = page(render_report(with_report())).text
    assert "1 right, 2 wrong, 1 to check by hand" in text
    assert "S08 (1, 196, 768) Your code gives another shape." in text
    assert "This is the shape that your code gives." in text
    assert "there is a picture, and pictures are not read" in text
    assert "The report states no shape for: S10." in text
    assert "scan.pdf could not be read: it is damaged." in text
    assert "No answer was found." in text
    assert "rubric" not in text


def test_marks_are_shown_to_the_student() -> None:
    text = page(render_report(decided(with_report(), Adjustment(marks={"q1": 1.5})))).text
    assert "1.5 of 2 points" in text
    assert "marked q1 1.5" in text


def test_a_submission_without_a_report_has_no_such_part() -> None:
    quiet = WrittenResult(
        documents=[DocumentResult(name="README.md")],
        snapshots={"S06": snapshot(SnapshotOutcome.NOT_FOUND, reason="it is not in the report")},
        answers=[AnswerResult(id="q1", question="Why?", rubric="", points=0)],
    )
    without = render_report(all_passed())
    assert "What you wrote" not in without
    assert render_report(all_passed().model_copy(update={"written": quiet})) == without


def test_who_marks_sees_each_answer_beside_what_to_look_for_and_the_command() -> None:
    text = page(render_marking(decided(with_report(), Adjustment(marks={"q1": 1.5})))).text
    assert "q1: Why? 1.5 of 2 points Answer Order is lost." in text
    assert "Rubric The secret rubric." in text
    assert "The question was not found in the report." in text
    assert "vitcheck gradebook mark" in text
    assert "q1=2 q2=2" in text
    assert "The assignment gives no points" in page(render_marking(with_report(points=0))).text


def test_the_page_for_marking_is_written_and_linked_where_there_are_answers(tmp_path: Path) -> None:
    for result, there in ((with_report(), True), (all_passed(), False)):
        write_submission(result, tmp_path / result.submission)
        assert (tmp_path / result.submission / "marking.html").exists() is there
        assert ("marking.html" in render_index(summaries([result]))) is there


@pytest.mark.parametrize("render", [render_report, render_marking])
def test_what_is_written_stays_text(render: object) -> None:
    assert callable(render)
    text = render(with_report(HOSTILE))
    read = page(text)
    assert "<script>alert(1)</script>" in read.text
    assert not {tag for tag, _ in read.tags} & {"script", "iframe", "img"}
    assert not set(text) & {"\x1b", "\x00", "\x07", "\u202e", "\u200b"}
    ids = read.values("id")
    assert len(ids) == len(set(ids))
    assert set(read.values("aria-labelledby")) <= set(ids)
