"""What test cells of nbgrader and test files of Otter ask of vitcheck."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import vitcheck.apart
from vitcheck.__main__ import main
from vitcheck.apart import Case, cases, earned

EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
WRONG = str(EXAMPLES / "scale_by_width.py")


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    yield
    vitcheck.apart._graded.cache_clear()


def test_a_cell_earns_its_share_and_a_part_says_what_is_wrong_with_it() -> None:
    assert 17 < earned(WRONG, 20) < 20
    found = cases(WRONG)
    (lost,) = [one for one in found if one.message]
    assert re.search(r"square root of the full width\. Which two vectors .*\?", lost.message)
    assert lost.name.startswith("S12 ")
    with pytest.raises(AssertionError, match="full width"):
        lost.require()
    assert sum(one.points for one in found) == pytest.approx(100)
    assert 20 * sum(one.points for one in found if not one.message) / 100 == pytest.approx(
        earned(WRONG, 20), abs=0.01
    )


def test_work_that_does_not_load_earns_nothing_and_fails_every_part(tmp_path: Path) -> None:
    (tmp_path / "vit.py").write_text("class ViT(:")
    assert earned(str(tmp_path / "vit.py"), 20) == 0
    (only,) = cases(str(tmp_path / "vit.py"))
    assert (only.points, "syntax" in only.message) == (100, True)


def test_a_component_is_a_part_of_all_its_checks() -> None:
    file = str(EXAMPLES.with_name("examples-basics") / "token_last_wrong_softmax.py")
    found = {one.name.partition(":")[0]: one for one in cases(file, assignment="vit-basics")}
    assert not found["component[mlp]"].message
    assert any(name.startswith("component[class_token]") and one.message for name, one in found.items())


def test_where_nothing_was_graded_there_is_no_grade() -> None:
    with pytest.raises(RuntimeError, match=r"was not graded(.|\n)*there is no file or folder gone\.ipynb"):
        earned("gone.ipynb", 20)


def test_a_test_file_for_otter_has_the_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as Otter reads it, with a stand-in for its decorator."""
    written = tmp_path / "tests" / "week3.py"
    run = CliRunner().invoke(
        main, ["otter", "hw3.ipynb", "--assignment", "vit-basics", "--out", str(written)]
    )
    assert run.exit_code == 0, run.output
    assert run.output.endswith("gives the points of vit-basics: 100\n")

    class Decorator:
        def __init__(self, name: str, points: float, hidden: bool) -> None:
            self.name, self.points, self.hidden = name, points, hidden

        def __call__(self, function: Callable[..., None]) -> Decorator:
            self.run = function
            return self

    class Otter:
        test_case = Decorator

    monkeypatch.setitem(sys.modules, "otter", Otter)
    monkeypatch.setitem(sys.modules, "otter.test_files", Otter)
    given = [Case("right", 60.0), Case("wrong", 40.0, hidden=True, message="the scale is missing")]
    monkeypatch.setattr(
        vitcheck.apart,
        "cases",
        lambda file, *, assignment: given if (file, assignment) == ("hw3.ipynb", "vit-basics") else [],
    )
    namespace: dict[str, object] = {}
    exec(written.read_text(), namespace)
    assert (namespace["OK_FORMAT"], namespace["name"]) == (False, "week3")
    right, wrong = [one for one in namespace.values() if isinstance(one, Decorator)]
    assert (right.name, right.points, wrong.points, wrong.hidden) == ("right", 60, 40, True)
    right.run(env={})
    with pytest.raises(AssertionError, match="the scale is missing"):
        wrong.run(env={})


def test_asking_imports_no_torch_into_the_notebook() -> None:
    code = "import sys, vitcheck.apart; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
