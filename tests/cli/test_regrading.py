"""``vitcheck regrade``, ``dispute`` and ``replay``: who would change, and one grade again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Run
from small_assignment import write_small_assignment

from vitcheck.__main__ import main
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.classes.engines.local import Local
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.many import Watch, grade_many
from vitcheck.checks.classes.tasks import Setting
from vitcheck.submissions.sandbox.isolation import Isolation

EXAMPLE = Path(__file__).parents[2] / "submissions" / "examples" / "scale_by_width.py"
Command = Callable[..., Run]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of one, graded with the seed 5."""
    course = tmp_path_factory.mktemp("course")
    (course / "class").mkdir()
    (course / "class" / "ann.py").write_bytes(EXAMPLE.read_bytes())
    asked = load_assignment(str(write_small_assignment(course)))
    with open_gradebook(str(course / "grades" / "gradebook.sqlite"), create=True) as book:
        class_ = {"ann": course / "class" / "ann.py"}
        setting = Setting(Isolation.NONE)
        grade_many(
            class_, asked, course / "grades", engine=Local(1), gradebook=book, watch=Watch(),
            setting=setting, seed=5,
        )  # fmt: skip
    return course


@pytest.fixture
def course(graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(graded, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> Run:
    return CliRunner().invoke(main, [*words, "--assignment", "small.toml", "--isolation", "none"])


def points() -> list[str]:
    lines = CliRunner().invoke(main, ["gradebook", "history", "ann"]).output.splitlines()
    return [line.split("  ")[1] for line in lines]


def test_other_points_are_told_with_the_check_before_they_are_written(course: Path) -> None:
    text = (course / "small.toml").read_text()
    (course / "small.toml").write_text(text.replace("major = 12", "major = 20"))
    seen = run("regrade", "grades", "--preview")
    assert seen.exit_code == 0, seen.output
    assert seen.output.splitlines() == [
        "    88 → 80      ann  equation[S12] takes 12 → 20",
        "1 would change, 0 would not",
        "Nothing was written.",
    ]
    assert points() == ["88 of 100"]
    assert run("regrade", "grades").exit_code == 1, "nobody said yes"
    assert points() == ["88 of 100"]
    assert run("regrade", "grades", "--yes").exit_code == 0
    assert points() == ["88 of 100", "80 of 100"]
    assert '"earned": 80.0' in (course / "grades" / "ann" / "result.json").read_text()


def test_another_verdict_needs_the_files_and_is_told_by_its_check(course: Path) -> None:
    text = (course / "small.toml").read_text()
    (course / "small.toml").write_text(
        text.replace("[variants]\n", '[variants]\nscale-by-embed-dim = { allow = true, reason = "x" }\n', 1)
    )
    refused = run("regrade", "grades", "--preview")
    assert (refused.exit_code, "name what `vitcheck grade` was given as PATH" in refused.output) == (2, True)
    seen = run("regrade", "grades", "class", "--preview")
    assert "    88 → 100     ann  equation[S12] failed → passed" in seen.output
    assert points() == ["88 of 100"]


def test_a_dispute_replays_to_the_same_numbers_elsewhere(course: Path, tmp_path: Path) -> None:
    made = CliRunner().invoke(main, ["dispute", "grades", "ann", "class", "--assignment", "small.toml"])
    assert made.exit_code == 0, made.output
    replayed = CliRunner().invoke(main, ["replay", "ann-dispute.zip", "--isolation", "none"])
    assert (replayed.exit_code, replayed.output) == (0, "The same came of it: 88 of 100 points.\n")


def test_a_dispute_is_of_what_was_graded(course: Path) -> None:
    options = ["dispute", "grades", "ann", "class", "--assignment"]
    text = (course / "small.toml").read_text()
    (course / "small.toml").write_text(text.replace("major = 12", "major = 20"))
    refused = CliRunner().invoke(main, [*options, "small.toml"])
    assert "another version of the assignment" in " ".join(refused.output.split())
    (course / "class" / "ann.py").write_text("x = 1")
    refused = CliRunner().invoke(main, [*options, "small.toml"])
    assert "ann is another file than the one that was graded" in refused.output
