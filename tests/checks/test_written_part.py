"""The written part of a submission: shown beside the code's result, and counted only where it is paid for."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest
import written_reports
from corpus import BASES

from vitcheck.checks.assignment.assignment import Assignment, AssignmentError, load_assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.result import Outcome, Result, Status
from vitcheck.checks.record.written_result import SnapshotOutcome
from vitcheck.submissions.host.process import Zygote

CODE = BASES["report"].source().encode()
WRITTEN = """
name = "mine"
title = "Mine"
architectures = ["report"]
examples = 2
[sizes]
preset = "B/16"
[points]
shapes = 26
written = 26
[written]
[written.questions.why]
text = "Why are positional encodings needed?"
rubric = "Order."
points = 4
"""


@pytest.fixture
def asked(tmp_path: Path) -> Assignment:
    (tmp_path / "mine.toml").write_text(WRITTEN)
    return load_assignment(str(tmp_path / "mine.toml"))


def graded(folder: Path, files: dict[str, bytes], zygote: Zygote, assignment: Assignment) -> Result:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return grade(folder, assignment, zygote=zygote, seed=3)


def test_by_default_the_report_is_shown_and_changes_no_grade(tmp_path: Path, zygote: Zygote) -> None:
    assignment = load_assignment("vit-debugging").model_copy(update={"examples": 2})
    alone = graded(tmp_path / "alone", {"vit.py": CODE}, zygote, assignment)
    files = {"vit.py": CODE, "report.md": written_reports.markdown()}
    both = graded(tmp_path / "both", files, zygote, assignment)
    assert alone.written is None
    assert both.written is not None
    assert (both.score, both.stages, both.checks) == (alone.score, alone.stages, alone.checks)
    wrong = both.written.snapshots["S12"]
    assert (wrong.outcome, wrong.agrees_with_code) == (SnapshotOutcome.WRONG, False)
    assert both.written.snapshots["S06"].agrees_with_code is True
    assert Result.from_json(both.to_json()).written == both.written


def test_records_without_a_written_part_are_still_read() -> None:
    folder = Path(__file__).parents[1] / "reports" / "records"
    record = json.loads((folder / "two_mistakes.json").read_text("utf-8"))
    del record["written"]
    assert Result.from_json(json.dumps(record)).written is None


def test_where_it_is_paid_for_each_right_snapshot_counts(
    tmp_path: Path, zygote: Zygote, asked: Assignment
) -> None:
    result = graded(
        tmp_path / "ann", {"vit.py": CODE, "report.md": written_reports.markdown()}, zygote, asked
    )
    outcomes = {one.id: one.outcome for one in result.checks if one.id.startswith("written[")}
    right = {label for label, outcome in outcomes.items() if outcome is Outcome.PASSED}
    assert right == {"written[S01]", "written[S02]", "written[S06]", "written[S13]"}
    assert len(outcomes) == 26
    assert result.score.earned == 26 + 4
    assert result.score.possible == 26 + 26 + 4  # of which a person gives the last
    check = next(one for one in result.checks if one.id == "written[S12]")
    assert check.message == "expected 1 × 12 × 197 × 197, got [1, 12, 197, 196]"


def test_a_report_counts_although_the_code_does_not_load(
    tmp_path: Path, zygote: Zygote, asked: Assignment
) -> None:
    files = {"vit.py": b"class ViT(", "report.md": written_reports.markdown()}
    result = graded(tmp_path / "ann", files, zygote, asked)
    assert result.status is Status.NOT_LOADED
    assert (result.score.earned, result.score.possible) == (4, 56)
    assert result.written is not None
    assert result.written.answers[0].answer == written_reports.ANSWER


def test_without_a_report_nothing_is_earned_by_it(tmp_path: Path, zygote: Zygote, asked: Assignment) -> None:
    result = graded(tmp_path / "ann", {"vit.py": CODE}, zygote, asked)
    assert (result.score.earned, result.score.possible) == (26, 56)


def test_what_a_person_has_to_look_at_costs_nothing_and_a_broken_file_earns_nothing(
    tmp_path: Path, zygote: Zygote, asked: Assignment
) -> None:
    result = graded(
        tmp_path / "ann", {"vit.py": CODE, "r.md": b"## S12\n\n![](a.png)", "r.pdf": b"%PDF-"}, zygote, asked
    )
    outcomes = {one.id: (one.outcome, one.message) for one in result.checks}
    assert outcomes["written[S12]"][0] is Outcome.SKIPPED
    assert outcomes["written[S13]"][0] is Outcome.FAILED
    assert "it may be in r.pdf, which could not be read" in outcomes["written[S13]"][1]


def test_the_grader_ends_where_a_report_counts_that_it_lacks_the_package_for(
    tmp_path: Path, zygote: Zygote, asked: Assignment
) -> None:
    with (
        patch("vitcheck.submissions.written.reading.find_spec", return_value=None),
        pytest.raises(RuntimeError, match=r"r\.pdf counts, and cannot be read.*vitcheck\[reports\]"),
    ):
        graded(tmp_path / "ann", {"vit.py": CODE, "r.pdf": b"%PDF-"}, zygote, asked)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[written]\n",
            "[written]\nquestion = 3\n",
            "question: is not a key here; did you mean questions",
        ),
        ("points = 4", "point = 4", "written.questions.why.point: is not a key here; did you mean points"),
        ("points = 4", "points = -1", "written.questions.why.points: must be greater than or equal to 0"),
        ('text = "Why are', '# text = "Why are', "written.questions.why.text: is missing"),
        (WRITTEN[WRITTEN.index("[written]") :], "", "pays for written, and there is no table [written]"),
    ],
)
def test_a_faulty_table_is_told_with_its_key(old: str, new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(WRITTEN.replace(old, new))
    with pytest.raises(AssignmentError) as problem:
        load_assignment(str(tmp_path / "mine.toml"))
    assert message in str(problem.value)
