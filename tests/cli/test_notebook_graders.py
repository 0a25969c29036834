"""What test cells of nbgrader and test files of Otter ask of vitcheck."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import vitcheck.apart
from vitcheck.__main__ import main
from vitcheck.apart import earned, require
from vitcheck.checks.assignment.assignment import load_assignment

EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
WRONG = str(EXAMPLES / "scale_by_width.py")


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    yield
    vitcheck.apart._graded.cache_clear()


def test_a_cell_earns_its_share_and_a_part_says_what_is_wrong_with_it() -> None:
    assert 17 < earned(WRONG, 20) < 20
    require("S11", WRONG)
    require("S13", WRONG)
    require("model", WRONG)
    with pytest.raises(AssertionError, match=r"square root of the full width\. Which two vectors .*\?"):
        require("S12", WRONG)


def test_work_that_does_not_load_earns_nothing_and_fails_every_part(tmp_path: Path) -> None:
    (tmp_path / "vit.py").write_text("class ViT(:")
    assert earned(str(tmp_path / "vit.py"), 20) == 0
    with pytest.raises(AssertionError, match="syntax"):
        require("S01", str(tmp_path / "vit.py"))


def test_a_component_is_a_part_of_all_its_checks() -> None:
    file = str(EXAMPLES.with_name("examples-basics") / "token_last_wrong_softmax.py")
    require("component[mlp]", file, assignment="vit-basics")
    with pytest.raises(AssertionError):
        require("component[class_token]", file, assignment="vit-basics")


def test_where_nothing_was_graded_there_is_no_grade() -> None:
    with pytest.raises(RuntimeError, match=r"was not graded(.|\n)*there is no file or folder gone\.ipynb"):
        earned("gone.ipynb", 20)


@pytest.mark.parametrize("assignment", ["vit-debugging", "vit-basics", "vit-rollout"])
def test_a_test_file_for_otter_has_a_case_for_each_part_with_all_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assignment: str
) -> None:
    """Read as Otter reads it, with a stand-in for its decorator."""
    written = tmp_path / "tests" / "week3.py"
    run = CliRunner().invoke(main, ["otter", "hw3.ipynb", "--assignment", assignment, "--out", str(written)])
    assert run.exit_code == 0, run.output
    cases: list[tuple[str, float]] = []
    asked: list[tuple[str, str, str]] = []

    class Otter:
        @staticmethod
        def test_case(name: str, points: float) -> object:
            cases.append((name, points))
            return lambda function: function(env={})

    monkeypatch.setitem(sys.modules, "otter", Otter)
    monkeypatch.setitem(sys.modules, "otter.test_files", Otter)
    monkeypatch.setattr(
        vitcheck.apart, "require", lambda part, file, *, assignment: asked.append((part, file, assignment))
    )
    namespace: dict[str, object] = {}
    exec(written.read_text(), namespace)
    assert (namespace["OK_FORMAT"], namespace["name"]) == (False, "week3")
    assert sum(points for _, points in cases) == pytest.approx(load_assignment(assignment).possible)
    assert len({part for part, *_ in asked}) == len(cases)
    assert {(file, name) for _, file, name in asked} == {("hw3.ipynb", assignment)}


def test_asking_imports_no_torch_into_the_notebook() -> None:
    code = "import sys, vitcheck.apart; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
