"""``vitcheck grade``: a line for each submission, a summary, and an exit code to rely on."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from click.testing import Result as Run
from samples import a_class

from vitcheck.__main__ import main
from vitcheck.checks.classes.gradebook.gradebook_error import GradebookError
from vitcheck.checks.classes.many import Class, Watch
from vitcheck.reports.words.text import NAME_LIMIT, one_line
from vitcheck.submissions.sandbox.isolation import Isolation, open_sandbox

Grade = Callable[..., Run]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command asks of the grader, which finds a class of samples and raises what it is told to."""
    asked: dict[str, Any] = {"left": 0, "lost": (), "raises": None}

    def grade_many(paths: object, assignment: object, out: Path, *, watch: Watch, **options: Any) -> Class:
        asked.update(options, paths=paths, assignment=assignment, out=out)
        first, *rest = a_class()
        watch.start(len(rest), 1)
        for result in rest:
            watch.begun(result.submission)
            watch.done(result)
        if asked["raises"]:
            raise asked["raises"]
        watch.taken(first)
        return Class(5, len(rest), asked["left"], asked["lost"])

    monkeypatch.setattr("vitcheck.checks.classes.many.grade_many", grade_many)
    for name in ("ann.py", "bob.ipynb"):
        (tmp_path / name).write_text("")
    return asked


@pytest.fixture
def grade(asked: dict[str, Any], tmp_path: Path) -> Grade:
    def run(*options: str) -> Run:
        return CliRunner().invoke(
            main, ["grade", str(tmp_path), "--out", str(tmp_path / "o"), "--isolation", "none", *options]
        )

    return run


def test_each_new_submission_has_its_line_and_the_class_a_summary(grade: Grade, tmp_path: Path) -> None:
    run = grade()
    assert run.exit_code == 0
    assignment, isolation, _, taken, *lines = run.output.splitlines()
    assert assignment.startswith("assignment: vit (Any Vision Transformer")
    assert isolation.startswith("isolation: limits alone")
    assert taken == "1 submission unchanged and taken from the gradebook (--force grades anew)"
    assert len(lines) == len(a_class()) - 1 + 3
    for line, result in zip(lines, a_class()[1:], strict=False):
        assert one_line(result.submission, NAME_LIMIT) in line
        assert line[0] in "✓✗!"
    assert f"{len(a_class())} submissions: " in lines[-2]
    assert lines[-1].endswith("grades.csv the grades (seed 5)")


def test_what_is_asked_is_passed_on(grade: Grade, asked: dict[str, Any], tmp_path: Path) -> None:
    grade("--seed", "9", "--checks", str(tmp_path), "--force")
    assert [one.name for one in asked["paths"].values()] == ["ann.py", "bob.ipynb"]
    assert asked["assignment"].name == "vit"
    assert (asked["out"], asked["seed"], asked["checks"]) == (tmp_path / "o", 9, tmp_path)
    assert asked["force"] is True
    assert asked["setting"].isolation.value == "none"
    assert asked["gradebook"].place == str(tmp_path / "o" / "gradebook.sqlite")


def test_the_folder_of_the_reports_is_no_submission(
    grade: Grade, asked: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "o").mkdir()
    grade()
    assert [one.name for one in asked["paths"].values()] == ["ann.py", "bob.ipynb"]


def test_what_is_no_submission_is_named(grade: Grade, tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("")
    assert "not read: roster.csv: it is no folder, Python" in grade().stderr


def test_the_gradebook_may_be_elsewhere(grade: Grade, asked: dict[str, Any], tmp_path: Path) -> None:
    grade("--gradebook", str(tmp_path / "all.sqlite"))
    assert asked["gradebook"].place == str(tmp_path / "all.sqlite")


def test_a_file_that_is_no_gradebook_is_a_usage_error(grade: Grade, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("no database, but long enough to have its header read" * 20)
    run = grade("--gradebook", str(tmp_path / "notes"))
    assert run.exit_code == 2
    assert "cannot be used as a gradebook: file is not a database" in " ".join(run.output.split())


def test_the_isolation_in_force_is_said(grade: Grade, asked: dict[str, Any]) -> None:
    run = grade("--isolation", "none")
    assert run.output.splitlines()[1] == (
        "isolation: limits alone; submissions run with your rights and with the network"
    )
    run = grade("--isolation", "auto")
    assert asked["setting"].isolation is Isolation.AUTO
    sandbox = open_sandbox(Isolation.AUTO)
    if sandbox is None:
        pytest.skip("nothing but limits works here")
    assert run.output.splitlines()[1] == f"isolation: {', '.join(sandbox.layers)}"
    for name, why in sandbox.missing:
        assert f"missing: {name}: {why}\n" in run.output


def test_nothing_is_graded_with_less_than_is_required(
    grade: Grade, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    run = grade("--isolation", "require")
    assert run.exit_code == 2
    assert "this machine does not keep submissions from the network" in run.output
    assert "paths" not in asked


def test_a_fault_of_the_grader_has_its_own_code_and_names_the_submission(
    grade: Grade, asked: dict[str, Any]
) -> None:
    asked["lost"] = ("brown-li",)
    run = grade()
    assert run.exit_code == 3
    assert "the machine had too much to do: brown-li. The same command with --retry" in run.output


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "Stopped."),
        (GradebookError("the gradebook g failed: database or disk is full"), 3, "database or disk is full."),
        (
            OSError(28, "No space left on device", "o/ann/report.html"),
            3,
            "No space left on device: 'o/ann/rep",
        ),
    ],
)
def test_what_ends_a_run_is_said_with_where_the_finished_ones_are(
    grade: Grade, asked: dict[str, Any], error: BaseException, code: int, message: str
) -> None:
    asked["raises"] = error
    run = grade()
    assert run.exit_code == code
    assert message in run.output
    assert "gradebook.sqlite; the same command continues." in run.output


def test_an_interrupted_run_says_how_many_are_left(grade: Grade, asked: dict[str, Any]) -> None:
    asked["left"] = 3
    run = grade()
    assert run.exit_code == 130
    assert "Interrupted: 3 not graded." in run.output


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


def test_a_batch_of_a_learning_management_system_is_graded_as_it_is(
    grade: Grade, asked: dict[str, Any], tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "batch.zip", "w") as archive:
        for name in ("annlee_12_345_vit.py", "annlee_12_346_vit-1.py", "bobo_LATE_13_347_vit.py"):
            archive.writestr(name, "x = 1")
    run = CliRunner().invoke(main, ["grade", str(tmp_path / "batch.zip"), "--out", str(tmp_path / "o")])
    assert [one.name for one in asked["paths"].values()] == ["annlee_12", "bobo_13"]
    assert run.stderr == "annlee_12: annlee_12_346_vit-1.py is newer than annlee_12_345_vit.py, and taken\n"
    assert not asked["paths"]["annlee_12"].exists()


def test_a_damaged_batch_is_a_usage_error(grade: Grade, asked: dict[str, Any], tmp_path: Path) -> None:
    batch = tmp_path / "batch.zip"
    with zipfile.ZipFile(batch, "w") as archive:
        archive.writestr("annlee_12_345_vit.py", "content of ann")
    batch.write_bytes(batch.read_bytes().replace(b"content of ann", b"content of bob"))
    run = CliRunner().invoke(main, ["grade", str(batch), "--out", str(tmp_path / "o")])
    assert (run.exit_code, "Download it again" in run.output) == (2, True)
    assert "paths" not in asked
