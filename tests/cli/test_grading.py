"""``vitcheck grade``: a line for each submission, a summary, and an exit code to rely on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from click.testing import Result as Run
from samples import a_class

import vitcheck.checks.many
from vitcheck.__main__ import main
from vitcheck.checks.many import Class
from vitcheck.reports.text import NAME_LIMIT, one_line

Grade = Callable[..., Run]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command asks of the grader, which finds a class of samples."""
    asked: dict[str, Any] = {"lost": (), "interrupted": False}

    def grade_many(paths: object, assignment: object, out: Path, **options: Any) -> Class:
        asked.update(options, paths=paths, assignment=assignment, out=out)
        for result in a_class():
            options["on_result"](result)
        if asked["interrupted"]:
            raise KeyboardInterrupt
        return Class(tuple(a_class()), asked["lost"])

    monkeypatch.setattr(vitcheck.checks.many, "grade_many", grade_many)
    for name in ("ann.py", "bob.ipynb", "notes.md"):
        (tmp_path / name).write_text("")
    return asked


@pytest.fixture
def grade(asked: dict[str, Any], tmp_path: Path) -> Grade:
    return lambda *options: CliRunner().invoke(main, ["grade", str(tmp_path), *options])


def test_each_submission_has_its_line_and_the_class_a_summary(grade: Grade) -> None:
    run = grade("--seed", "5")
    assert run.exit_code == 0
    lines = run.output.splitlines()
    assert len(lines) == len(a_class()) + 3
    for line, result in zip(lines, a_class(), strict=False):
        assert one_line(result.submission, NAME_LIMIT) in line
        assert line[0] in "✓✗!"
    assert f"{len(a_class())} submissions: " in lines[-2]
    assert lines[-1] == "grades/index.html shows all of them, grades/grades.csv the grades (seed 5)"


def test_what_is_asked_is_passed_on(grade: Grade, asked: dict[str, Any], tmp_path: Path) -> None:
    grade("--out", str(tmp_path / "o"), "--jobs", "3", "--seed", "9", "--checks", str(tmp_path))
    assert [one.name for one in asked["paths"]] == ["ann.py", "bob.ipynb"]
    assert asked["assignment"].name == "vit-debugging"
    assert (asked["out"], asked["seed"], asked["checks"]) == (tmp_path / "o", 9, tmp_path)


def test_without_a_seed_each_run_draws_its_own(grade: Grade, asked: dict[str, Any]) -> None:
    seeds = set()
    for _ in range(3):
        text = grade().output
        assert text.endswith(f"(seed {asked['seed']})\n")
        seeds.add(asked["seed"])
    assert len(seeds) > 1


def test_a_fault_of_the_grader_has_its_own_code_and_names_the_submission(
    grade: Grade, asked: dict[str, Any]
) -> None:
    asked["lost"] = ("brown-li",)
    run = grade()
    assert run.exit_code == 3
    assert "The grader itself failed on brown-li" in run.output


def test_an_interrupt_says_where_the_finished_ones_are(grade: Grade, asked: dict[str, Any]) -> None:
    asked["interrupted"] = True
    run = grade()
    assert run.exit_code == 130
    assert "Interrupted; what was finished is in grades" in run.output


def test_from_files_to_reports(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "ann.py").write_text("def forward(x:\n")
    (folder / "bob.py").write_text("print('hello')\n")
    command = [sys.executable, "-m", "vitcheck", "grade", str(folder), "--out", str(out), "--jobs", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 submissions: 0 right, 0 with something wrong, 2 that could not be graded" in done.stdout
    for name in ("ann", "bob"):
        assert f"{name}/report.html" in (out / "index.html").read_text(encoding="utf-8")
        assert (out / name / "report.html").exists()
        assert '"not_loaded"' in (out / name / "result.json").read_text(encoding="utf-8")
