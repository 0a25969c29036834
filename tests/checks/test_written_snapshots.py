"""Each snapshot is found where a person would find it, and its shape is judged as it is stated there."""

from __future__ import annotations

import pytest
import written_reports

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.record.result import Evidence, StageResult, StageStatus
from vitcheck.checks.record.written_result import SnapshotResult
from vitcheck.checks.written.examining import Written
from vitcheck.reference.stages import STAGES, stage
from vitcheck.submissions.written import latex, markdown, notebook, pdf, word
from vitcheck.submissions.written.passages import Passage, PassageKind
from vitcheck.submissions.written.reading import WrittenReport

DEBUGGING = load_assignment("vit-debugging")
assert DEBUGGING.written is not None
ASKED = DEBUGGING.written
READERS = {".md": markdown, ".tex": latex, ".pdf": pdf, ".docx": word, ".ipynb": notebook}


def snapshots(
    *documents: WrittenReport, code: dict[str, StageResult] | None = None
) -> dict[str, SnapshotResult]:
    return Written(documents, DEBUGGING, ASKED).record(code or {}).snapshots


def of_text(text: str) -> dict[str, SnapshotResult]:
    return snapshots(WrittenReport("report.md", tuple(markdown.passages_of(text))))


def of_lines(text: str) -> dict[str, SnapshotResult]:
    """The same as the lines of a PDF."""
    lines = [Passage(PassageKind.TEXT, one, page=1) for one in text.splitlines() if one.strip()]
    return snapshots(WrittenReport("report.pdf", tuple(lines)))


def seen(found: dict[str, SnapshotResult]) -> dict[str, str]:
    return {label: one.outcome.value for label, one in found.items() if one.outcome.value != "not_found"}


def code_stage(label: str, shape: list[int]) -> StageResult:
    row = stage(label)
    return StageResult(
        key=row.key,
        title=row.title,
        axes=row.axes,
        equation=row.equation,
        status=StageStatus.PASSED,
        evidence=Evidence.OBSERVED,
        expected_shape=shape,
        shape=shape,
    )


@pytest.mark.parametrize("name", written_reports.KINDS)
def test_right_and_wrong_shapes_are_told_in_every_kind_of_file(name: str) -> None:
    reader = READERS[f".{name.partition('.')[2]}"]
    document = WrittenReport(name, tuple(reader.passages(written_reports.KINDS[name]())))
    found = snapshots(document)
    assert seen(found) == {"S01": "right", "S02": "right", "S06": "right", "S12": "wrong", "S13": "right"}
    assert found["S12"].stated == ["[1, 12, 197, 196]"]
    assert found["S12"].expected_shape == [1, 12, 197, 197]
    assert str(found["S12"].where).startswith(name)


def test_a_report_of_all_stages_by_title_alone_is_right_throughout() -> None:
    rows = [(one.title, " × ".join(map(str, one.shape(DEBUGGING.full)))) for one in STAGES]
    headings = "\n\n".join(f"### {title}\n\nThe tensor is {shape}." for title, shape in rows)
    table = "| what | shape |\n|---|---|\n" + "\n".join(f"| {title} | {shape} |" for title, shape in rows)
    for text in (headings, table):
        assert seen(of_text(text)) == {one.label: "right" for one in STAGES}
    assert seen(of_lines(headings.replace("### ", ""))) == {one.label: "right" for one in STAGES}


@pytest.mark.parametrize(
    "text",
    [
        "## S12 — Attention scores\n\nShape: (1, 12, 197, 197)",
        "### Snapshot 12: scores\n\n1 x 12 x 197 x 197",
        "### 4.12 Snapshot S12\n\n1 x 12 x 197 x 197",
        "**S12**: `torch.Size([1, 12, 197, 197])`",
        "| S12 | (1, 12, 197, 197) |\n|---|---|",
        "| | stage | shape |\n|---|---|---|\n| 12 | attention scores | (1, 12, 197, 197) |",
        "Figure 12: S12, the scores, of shape (B, h, T, T)",
        "```\nS12 torch.Size([1, 12, 197, 197])\n```",
        "## S12\n\n```\n>>> scores.shape\ntorch.Size([1, 12, 197, 197])\n```",
        "The scaled products (S12) are of shape 1 × 12 × 197 × 197.",
        "Attention scores: (1, 12, 197, 197)",
    ],
)
def test_a_snapshot_is_found_where_it_is_shown(text: str) -> None:
    assert seen(of_text(text)) == {"S12": "right"}


def test_one_statement_may_be_about_several_stages() -> None:
    assert seen(of_text("## S09-S11\n\nEach is (1, 12, 197, 64).")) == dict.fromkeys(
        ("S09", "S10", "S11"), "right"
    )
    assert seen(of_text("## Q, K, V\n\nEach is (1, 12, 197, 65).")) == dict.fromkeys(
        ("S09", "S10", "S11"), "wrong"
    )


@pytest.mark.parametrize(
    ("label", "text", "outcome"),
    [
        ("S06", "Adding it turns (1, 196, 768) into (1, 197, 768).", "right"),
        ("S06", "The batch of 4 gives (4, 197, 768).", "right"),
        ("S06", "(1, 196, 768)", "wrong"),
        ("S15", "1 × 12 × 197 × 64", "wrong"),
        ("S24", "(1, 197, 768)", "wrong"),
        ("S14", "(1, 197, 768)", "right"),  # by the sheet's numbering: after the heads are joined
        ("S09", "(1, 197, 12, 64)", "unclear"),
        ("S06", "(197, 768)", "unclear"),
        ("S04", "1 × 768 × 14 × 14", "unclear"),
        ("S02", "There are 14 × 14 patches of 16 × 16 pixels.", "unclear"),
        ("S12", "![screenshot](s12.png)", "unclear"),
        ("S12", "The scores of all tokens.", "not_found"),
    ],
)
def test_what_is_stated_is_right_wrong_or_for_a_person(label: str, text: str, outcome: str) -> None:
    found = of_text(f"## {label}\n\n{text}")[label]
    assert found.outcome.value == outcome
    assert bool(found.reason) is (outcome in ("unclear", "not_found"))


def test_what_begins_like_a_name_below_a_label_belongs_to_that_label() -> None:
    below = "Values: 0.38, -0.36\n\nScores:\n\n(1, 12, 197, 197)"
    assert seen(of_text(f"## S12\n\n{below}")) == {"S12": "right"}
    assert seen(of_lines(f"S12 - scores\n{below}")) == {"S12": "right"}


def test_a_label_in_passing_does_not_hide_what_stands_below_the_name() -> None:
    text = "## Attention scores\n\n(1, 12, 197, 197)\n\n## Softmax\n\nIt turns S12 into probabilities."
    assert seen(of_text(text)) == {"S12": "right"}


def test_many_shapes_in_one_place_state_none() -> None:
    every = " ".join(str(one.shape(DEBUGGING.full)) for one in STAGES)
    assert of_text(f"## S12\n\n{every}")["S12"].outcome.value == "unclear"


def test_code_that_only_marks_a_stage_shows_no_snapshot() -> None:
    code = "x = cat(a, b)  # (B, 1, 768)\n# BREAKPOINT S06 - tokens\n"
    assert seen(of_text(f"## S04\n\n(1, 196, 768)\n\n```python\n{code}```")) == {"S04": "right"}
    assert seen(of_lines(f"S04 - embeddings\n{code}Shape (1, 196, 768)")) == {"S04": "right"}


def test_shapes_in_answers_belong_to_no_stage() -> None:
    text = (
        "S26 - probabilities\n2. Why is a class token added, and what does it do to the shape?\n(1, 196, 768)"
    )
    assert of_lines(text)["S26"].outcome.value == "not_found"
    assert of_lines("S26 - probabilities\n4 Reflection\nI saw (1, 196, 768).")["S26"].stated == []


def test_the_code_is_laid_beside_what_is_stated() -> None:
    code = {"S06": code_stage("S06", [1, 196, 768]), "S07": code_stage("S07", [1, 197, 768])}
    text = "## S06\n\n(1, 196, 768)\n\n## S07\n\n(1, 196, 768)\n\n## S08\n\n(1, 197, 768)"
    found = snapshots(WrittenReport("r.md", tuple(markdown.passages_of(text))), code=code)
    agreement = {label: (found[label].outcome.value, found[label].agrees_with_code) for label in found}
    assert agreement["S06"] == ("wrong", True)
    assert agreement["S07"] == ("wrong", False)
    assert agreement["S08"] == ("right", None)
    assert agreement["S09"] == ("not_found", None)


def test_what_may_stand_in_an_unread_report_is_said() -> None:
    found = snapshots(WrittenReport("scan.pdf", problem="it holds no text"))
    assert found["S12"].reason == "it may be in scan.pdf, which could not be read"
