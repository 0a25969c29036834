"""``vitcheck check``: what it prints, writes and answers, whatever the grader finds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Run
from samples import all_passed, not_loaded, scaled_by_embed_dim

from vitcheck.__main__ import main
from vitcheck.checks.classes.tasks import Task
from vitcheck.checks.record.result import Result
from vitcheck.submissions.sandbox.isolation import Isolation
from vitcheck.warm import WarmGrader

Check = Callable[..., Run]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Run the command on a file that the grader finds to be as given."""

    def run(found: Result | BaseException | Callable[[Task], Result], *options: str) -> Run:
        def grade(_: WarmGrader, task: Task) -> Result:
            if isinstance(found, BaseException):
                raise found
            return found if isinstance(found, Result) else found(task)

        monkeypatch.setattr(WarmGrader, "grade", grade)
        (tmp_path / "vit.py").write_text("")
        return CliRunner().invoke(main, ["check", str(tmp_path / "vit.py"), *options])

    return run


@pytest.mark.parametrize(
    ("found", "code"), [(all_passed(), 0), (scaled_by_embed_dim(), 1), (not_loaded(), 1)]
)
def test_the_exit_code_says_whether_something_is_wrong(check: Check, found: Result, code: int) -> None:
    assert check(found).exit_code == code


def test_the_verdict_is_printed(check: Check) -> None:
    text = check(scaled_by_embed_dim()).output
    assert "\nS12 attention scores · " in text
    assert "vit_transformer.py:58" in text


@pytest.mark.parametrize("name", ["S12", "s12", "attention_scores"])
def test_one_stage_alone(check: Check, name: str) -> None:
    run = check(scaled_by_embed_dim(), "--stage", name)
    assert run.exit_code == 1
    lines = run.output.splitlines()
    assert lines[0].startswith("✗ S12: attention scores, wrong")
    rows = {
        line[:10].strip(): line[10:] for line in lines if line[:1].islower() and line[:10].strip().isalpha()
    }
    assert rows["expected"] == rows["seen"] == "B 1 × h 12 × T 197 × T 197"
    assert rows["mistake"] == "scale-by-embed-dim"
    assert rows["line"] == "vit_transformer.py:58"
    assert lines[-1].endswith("?")
    assert "S13" not in run.output


def test_a_stage_that_is_right_is_no_failure(check: Check) -> None:
    run = check(scaled_by_embed_dim(), "--stage", "S05")
    assert (run.exit_code, run.output.splitlines()[0][:5]) == (0, "✓ S05")


def test_without_stages_the_verdict_says_why(check: Check) -> None:
    run = check(not_loaded(), "--stage", "S12")
    assert run.exit_code == 1
    assert "The code could not be loaded" in run.output


def test_the_report_and_the_data_are_written_where_asked(check: Check, tmp_path: Path) -> None:
    check(all_passed(), "--html", str(tmp_path / "a.html"), "--json", str(tmp_path / "a.json"))
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads((tmp_path / "a.json").read_text())["submission"] == all_passed().submission


def test_a_fault_of_the_grader_is_not_the_students(check: Check) -> None:
    run = check(RuntimeError("no process can be forked"))
    assert run.exit_code == 3
    assert "no process can be forked" in run.output
    assert "The grader itself failed" in run.output


def test_nothing_is_checked_with_less_than_is_required(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    run = check(all_passed(), "--isolation", "require")
    assert (run.exit_code, "does not keep submissions from the network" in run.output) == (2, True)


def test_own_checks_and_the_sandbox_reach_the_grader(check: Check, tmp_path: Path) -> None:
    given: list[Task] = []

    def grade(task: Task) -> Result:
        given.append(task)
        return all_passed()

    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "test_own.py").write_text("")
    check(grade, "--checks", str(tmp_path / "own"), "--isolation", "auto")
    (task,) = given
    assert task.checks is not None
    assert list(task.checks.files) == ["test_own.py"]
    assert task.setting.isolation is Isolation.AUTO


def test_an_interrupt_has_its_own_code(check: Check) -> None:
    assert check(KeyboardInterrupt()).exit_code == 130


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("vit.py", "import torch\n\nclass ViT(:\n    pass\n", "Syntax error: invalid syntax"),
        ("vit.py", "\n", "vit.py is empty"),
        ("vit.ipynb", "{}", "vit.ipynb is a damaged notebook"),
    ],
)
def test_what_is_no_python_is_told_before_anything_is_loaded(
    tmp_path: Path, name: str, content: str, told: str
) -> None:
    """In a file that is being written, this is what is wrong most often."""
    (tmp_path / name).write_text(content)
    line = [sys.executable, "-X", "importtime", "-m", "vitcheck", "check", str(tmp_path / name)]
    run = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    loaded = {row.rpartition("|")[2].strip() for row in run.stderr.splitlines()}
    assert told in run.stdout
    assert run.returncode == 1
    assert "click" in loaded
    assert loaded.isdisjoint({"torch", "numpy", "pytest", "hypothesis"})


def test_a_syntax_error_is_shown_at_its_part_of_the_line(tmp_path: Path) -> None:
    file = tmp_path / "vit.py"
    file.write_text("x = 1\ny = (2 +\n")
    lines = CliRunner().invoke(main, ["check", str(file)]).output.splitlines()
    (marked,) = [number for number, line in enumerate(lines) if line.startswith("▸")]
    assert lines[marked].index("(2 +") == lines[marked + 1].index("^")
