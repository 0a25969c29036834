"""The command that a report shows to repeat it runs as it stands there, whatever was handed in."""

from __future__ import annotations

import io
import json
import shlex
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_notebook
from small_assignment import write_small_assignment

from vitcheck.__main__ import main
from vitcheck.checks.record.for_students import for_students
from vitcheck.checks.record.result import Result

EXAMPLE = (Path(__file__).parents[2] / "submissions" / "examples" / "scale_by_width.py").read_text()
OWN = '''
def test_is_even(examination):
    """The classes are even."""
    assert False, "they are odd"
'''


def _packed() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("hw 3/vit.py", EXAMPLE)
    return file.getvalue()


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder and a batch, each graded with own checks, in the folder that stays the working one."""
    with pytest.MonkeyPatch.context() as patch:
        course = tmp_path_factory.mktemp("a course")
        patch.chdir(course)
        text = write_small_assignment(course).read_text()
        Path("small.toml").write_text(text.replace("own = 0", "own = 5"))
        Path("own").mkdir()
        Path("own/test_own.py").write_text(OWN)
        Path("class").mkdir()
        Path("class/it's mine.py").write_text(EXAMPLE)
        notebook = nbformat.writes(new_notebook(cells=[new_code_cell(EXAMPLE)]))
        Path("class/packed.zip").write_bytes(_packed())
        with zipfile.ZipFile("batch.zip", "w") as archive:
            archive.writestr("smithann_1_2_vit-1.py", EXAMPLE)
            archive.writestr("bobo_LATE_3_4_hw.ipynb", notebook)
        options = ["--assignment", "small.toml", "--checks", "own", "--seed", "6", "--jobs", "1"]
        run = CliRunner().invoke(main, ["grade", "class", "batch.zip", *options, "--isolation", "none"])
        assert run.exit_code == 0, run.output
        yield course


NAMES = ("it's mine", "packed", "smithann_1", "bobo_3")


@pytest.mark.parametrize("name", NAMES)
def test_the_command_of_a_class_runs_as_it_is_shown(graded: Path, name: str, tmp_path: Path) -> None:
    shown = Result.from_json((graded / "grades" / name / "result.json").read_bytes())
    commands = {one.counterexample["command"] for one in shown.checks if one.counterexample}
    assert commands == {shown.run.command}
    assert shown.run.command is not None
    program, *words = shlex.split(shown.run.command)
    run = CliRunner().invoke(main, [*words, "--json", str(tmp_path / "again.json")])
    assert (program, run.exit_code) == ("vitcheck", 1), run.output
    again = Result.from_json((tmp_path / "again.json").read_bytes())
    assert again.checks == [
        one if one.counterexample is None else one.model_copy(update={"counterexample": other.counterexample})
        for one, other in zip(shown.checks, again.checks, strict=True)
    ]
    assert again.score == shown.score
    assert any(one.id.startswith("own") and one.outcome == "failed" for one in again.checks)


@pytest.mark.parametrize(("name", "file"), [("smithann_1", "vit.py")])
def test_the_command_of_a_student_is_for_their_file_beside_the_handout(
    graded: Path, name: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Result.from_json((graded / "grades" / name / "result.json").read_bytes())
    told = for_students(whole)
    handout = CliRunner().invoke(main, ["handout", str(graded / "small.toml")]).output
    monkeypatch.chdir(tmp_path)
    Path("assignment.toml").write_text(handout)
    Path(file).write_text(EXAMPLE)
    assert told.run.command == shlex.join(["vitcheck", "check", file, "--seed", "6"])
    run = CliRunner().invoke(main, [*shlex.split(told.run.command)[1:], "--json", "again.json"])
    assert run.exit_code == 1, run.output
    again = json.loads(Path("again.json").read_text())
    mine = [(one.id, one.outcome.value, one.message) for one in told.checks if not one.id.startswith("own")]
    assert [(one["id"], one["outcome"], one["message"]) for one in again["checks"]] == mine


def test_who_is_not_in_the_class_is_told(graded: Path) -> None:
    run = CliRunner().invoke(main, ["check", "batch.zip", "--submission", "smithann_2"])
    assert run.exit_code == 2
    assert "did you mean smithann_1?" in " ".join(run.output.split())
