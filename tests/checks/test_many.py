"""Grading many: whatever happens to one submission or to the grader, no result is lost."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from vitcheck.checks import many
from vitcheck.checks.assignment import load_assignment
from vitcheck.checks.many import Class, grade_many
from vitcheck.checks.result import Result, Run, Score, Status
from vitcheck.submissions.process import Zygote

NAMES = ("ann", "bob", "cleo", "dan", "eve")


class Quick(many._Task):
    """Grades by what the file says, so that a grader can be had that fails."""

    def grade(self, zygote: Zygote) -> Result:
        says = self.path.read_text()
        if says == "die":
            os._exit(1)
        if says == "raise":
            raise RuntimeError("a fault of the grader")
        return Result(
            schema=1,
            submission=self.name,
            assignment=self.assignment.name,
            status=Status.GRADED,
            score=Score(earned=float(says), possible=100),
            run=Run(seed=self.seed, seconds=0),
            arrays=save({"S25/student": torch.tensor([float(says)])}),
        )


@pytest.fixture
def graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Class]:
    monkeypatch.setattr(many, "_Task", Quick)
    monkeypatch.setattr(many, "_WARM", ())

    def run(jobs: int, on_result: Callable[[Result], None] = lambda one: None, **texts: str) -> Class:
        paths = []
        for name in NAMES:
            paths.append(tmp_path / f"{name}.py")
            paths[-1].write_text(texts.get(name, str(len(name))))
        return grade_many(
            paths,
            load_assignment("vit-debugging"),
            tmp_path / "out",
            jobs=jobs,
            seed=7,
            checks=None,
            on_result=on_result,
        )

    return run


def statuses(graded: Class) -> dict[str, str]:
    return {one.submission: one.status.value for one in graded.results}


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_submission_has_its_files_and_the_class_its_pages(
    graded: Callable[..., Class], jobs: int, tmp_path: Path
) -> None:
    seen: list[str] = []

    def on_result(result: Result) -> None:
        assert (tmp_path / "out" / result.submission / "report.html").exists()
        seen.append(result.submission)

    found = graded(jobs, on_result)
    assert sorted(seen) == list(NAMES)
    assert [one.submission for one in found.results] == list(NAMES)
    assert found.lost == ()
    out = tmp_path / "out"
    assert {one.name for one in out.iterdir()} == {*NAMES, "index.html", "grades.csv"}
    with (out / "grades.csv").open(encoding="utf-8", newline="") as rows:
        assert {row[0] for row in csv.reader(rows)} >= set(NAMES)


def test_the_number_of_jobs_changes_no_byte(graded: Callable[..., Class], tmp_path: Path) -> None:
    """Nor does it lose the arrays."""
    written = []
    for jobs in (1, 3):
        graded(jobs)
        files = sorted((tmp_path / "out").rglob("*.*"))
        written.append({one.relative_to(tmp_path): one.read_bytes() for one in files})
    assert written[0] == written[1]
    assert sum(path.name == "arrays.safetensors" for path in written[0]) == len(NAMES)


@pytest.mark.parametrize(("jobs", "fault"), [(1, "raise"), (2, "raise"), (2, "die")])
def test_where_the_grader_fails_the_submission_is_recorded_and_the_others_go_on(
    graded: Callable[..., Class], jobs: int, fault: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = graded(jobs, bob=fault, dan=fault)
    assert found.lost == ("bob", "dan")
    assert statuses(found) == {
        "ann": "graded", "bob": "crashed", "cleo": "graded", "dan": "crashed", "eve": "graded",
    }  # fmt: skip
    record = json.loads((tmp_path / "out" / "bob" / "result.json").read_text())
    assert record["reason"].startswith("the grader itself failed on this submission")
    assert record["score"] == {"earned": 0, "possible": 100}
    assert ("a fault of the grader" in capfd.readouterr().err) == (fault == "raise")


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_leaves_what_was_done(graded: Callable[..., Class], jobs: int, tmp_path: Path) -> None:
    def interrupt(result: Result) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        graded(jobs, interrupt)
    (folder,) = (one for one in (tmp_path / "out").iterdir() if one.is_dir())
    assert (folder / "result.json").exists()
    assert folder.name in (tmp_path / "out" / "index.html").read_text()
