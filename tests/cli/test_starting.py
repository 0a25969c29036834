"""``vitcheck init``: the command as it is started, and what comes of its files."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from filled import filled
from forked import forked, outside

from vitcheck.checks.assignment.assignment import assignment_names, load_assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.result import Status
from vitcheck.checks.tools.course.skeleton import rows
from vitcheck.submissions.host.process import Zygote

FILES = {
    "README.md",
    "assignment.toml",
    "handout/.devcontainer/devcontainer.json",
    "handout/.github/workflows/vitcheck.yml",
    "handout/README.md",
    "handout/assignment.toml",
    "handout/vit_transformer.ipynb",
    "handout/vit_transformer.py",
    "solution/README.md",
}


def init(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return forked(["vitcheck", "init", *options], folder, outside())


@pytest.fixture(scope="module", params=assignment_names())
def course(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A course for each assignment that ships: what it started from, and where it is."""
    folder = tmp_path_factory.mktemp(request.param) / "week-1"
    run = init(folder.parent, "week-1", "--start", request.param, "--yes")
    assert run.returncode == 0, run.stderr
    return request.param, folder


def test_the_files_of_a_course_are_there(course: tuple[str, Path]) -> None:
    _, folder = course
    assert {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()} == FILES


def test_the_assignment_is_the_one_to_start_from_under_its_own_name(course: tuple[str, Path]) -> None:
    start, folder = course
    made = load_assignment(str(folder / "assignment.toml")).model_dump()
    assert made == load_assignment(start).model_dump() | {"name": "week-1"}
    text = (folder / "assignment.toml").read_text()
    assert text.count("# ") > 5  # the comments stay
    given = load_assignment(str(folder / "handout" / "assignment.toml")).model_dump()
    own = {"for_students": True, "written": given["written"]}
    assert given == made | own
    assert "rubric" not in (folder / "handout" / "assignment.toml").read_text()


def test_the_skeleton_names_all_that_is_asked_for(course: tuple[str, Path]) -> None:
    start, folder = course
    asked, text = load_assignment(start), (folder / "handout" / "vit_transformer.py").read_text()
    stages = rows(asked)
    assert all(f"        {one.key} = ...\n" in text for one in stages if one.key != "image")
    assert text.count(" = ...\n") == len(stages[1:]) + sum(
        map(len, (asked.outputs, asked.components, asked.exercises))
    )
    assert text.count("# BREAKPOINT S") == (len(stages) if asked.rules.breakpoints else 0)


def test_the_notebook_holds_the_same_code(course: tuple[str, Path]) -> None:
    folder = course[1] / "handout"
    cells = nbformat.read(folder / "vit_transformer.ipynb", as_version=4).cells
    code = "\n\n\n".join(one.source for one in cells if one.cell_type == "code")
    assert (folder / "vit_transformer.py").read_text().endswith(f"\n\n{code}\n")


def test_the_skeleton_as_it_is_gets_few_points(course: tuple[str, Path], zygote: Zygote) -> None:
    start, folder = course
    result = grade(folder / "handout" / "vit_transformer.py", load_assignment(start), zygote=zygote)
    assert result.status is Status.GRADED
    assert result.score.earned < 10


def test_the_skeleton_filled_with_the_references_code_is_right(
    course: tuple[str, Path], zygote: Zygote, tmp_path: Path
) -> None:
    start, folder = course
    solution = tmp_path / "vit_transformer.py"
    solution.write_text(filled(start, (folder / "handout" / "vit_transformer.py").read_text()))
    result = grade(solution, load_assignment(start), zygote=zygote)
    assert [(one.id, one.message) for one in result.checks if one.outcome == "failed"] == []
    assert (result.reason, result.score.earned) == (None, 100)


def test_the_command_of_the_handout_checks_the_file_beside_it(tmp_path: Path) -> None:
    assert init(tmp_path, "course", "--yes").returncode == 0
    handout = tmp_path / "course" / "handout"
    (command,) = re.findall(r"^vitcheck (check .*)$", (handout / "README.md").read_text(), re.MULTILINE)
    run = subprocess.run(
        [sys.executable, "-m", "vitcheck", *command.split()],
        cwd=handout,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 1, run.stderr  # graded, and not right yet
    assert run.stdout.startswith("vit_transformer · assignment.toml (")
    assert "points so far, 100 in all" in run.stdout


def test_what_is_said_stands_in_the_assignment_and_in_the_handout(tmp_path: Path) -> None:
    sizes = ("--preset", "S/8", "--image-size", "32x48", "--classes", "10")
    title = 'A "small" ViT\\ for CIFAR-10'
    assert init(tmp_path, "course", "--name", "week 1", "--title", title, *sizes).returncode == 0
    asked = load_assignment(str(tmp_path / "course" / "assignment.toml"))
    assert (asked.name, asked.title) == ("week 1", title)
    assert (asked.full.height, asked.full.width, asked.full.classes) == (32, 48, 10)
    assert (asked.full.patch, asked.full.embed_dim) == (8, 384)
    assert "224" not in (tmp_path / "course" / "assignment.toml").read_text()
    handout = tmp_path / "course" / "handout"
    assert "IMAGE_HEIGHT, IMAGE_WIDTH = 32, 48" in (handout / "vit_transformer.py").read_text()
    assert "B 1 × N 24 × D 384" in (handout / "README.md").read_text()


def test_a_preset_takes_the_place_of_the_sizes_of_the_start(tmp_path: Path) -> None:
    assert (
        init(tmp_path, "course", "--start", "vit-basics", "--preset", "S/16", "--image-size", "64").returncode
        == 0
    )
    full = load_assignment(str(tmp_path / "course" / "assignment.toml")).full
    assert (full.patch, full.embed_dim, full.height) == (16, 384, 64)


def test_after_a_change_of_the_assignment_the_same_files_are_written_anew(tmp_path: Path) -> None:
    assert init(tmp_path, "course", "--name", "week 1", "--yes").returncode == 0
    file = tmp_path / "course" / "assignment.toml"
    file.write_text(file.read_text().replace("breakpoints = true", "breakpoints = false"))
    changed = file.read_text()
    assert init(tmp_path / "course", "--start", "assignment.toml", "--force").returncode == 0
    assert file.read_text() == changed
    assert not load_assignment(str(file.parent / "handout" / "assignment.toml")).rules.breakpoints
    assert "BREAKPOINT" not in (file.parent / "handout" / "vit_transformer.py").read_text()


def test_nothing_is_written_over_unless_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "handout").mkdir()
    mine = tmp_path / "handout" / "README.md"
    mine.write_text("mine")
    run = init(tmp_path, "--yes")
    assert run.returncode == 2
    assert f"{Path('handout', 'README.md')}: there already; --force writes over them" in run.stderr
    assert [one.name for one in tmp_path.rglob("*")] == ["handout", "README.md"]
    assert mine.read_text() == "mine"
    assert init(tmp_path, "--yes", "--force").returncode == 0
    assert mine.read_text() != "mine"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--image-size", "33"), "image height 33 is not a multiple of the patch side 16"),
        (("--image-size", "3p"), "'3p' is not an image size such as 32, or 32x48"),
        (("--preset", "B/17"), "'B/17' is not a named size; there are S/8"),
        (("--classes", "0"), "0 is not in the range x>=1"),
        (("--start", "vit-bacs"), "did you mean vit-basics?"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    run = init(tmp_path, "course", *options)
    assert run.returncode == 2
    assert message in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_in_a_terminal_it_asks_and_an_empty_answer_is_the_default(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "vitcheck", "init", "course", "--title", "Ours"],
        cwd=tmp_path,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as run:
        os.close(theirs)
        os.write(ours, b"\nweek-2\ny\n\nhuge\n64\n\n")  # no preset, a size that is none, 64, no classes
        text, _ = run.communicate(timeout=60)
    os.close(ours)
    assert run.returncode == 0, text
    for question in (b"Start from clip-vit, ", b"Other sizes than it has?", b"'huge' is not an image size"):
        assert question in text
    assert b"Title" not in text  # it was said
    asked = load_assignment(str(tmp_path / "course" / "assignment.toml"))
    assert (asked.name, asked.title, asked.full.height) == ("week-2", "Ours", 64)
