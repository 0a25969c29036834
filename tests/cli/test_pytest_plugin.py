"""``pytest --vit``: real runs, as people start them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from forked import forked, outside
from small_assignment import write_small_assignment

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.grading.running import planned_checks

Run = subprocess.CompletedProcess[str]

DOCS = Path(__file__).parents[2] / "docs" / "pytest.md"
EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
WRONG = EXAMPLES / "scale_by_width.py"
FAILED = "vit.py::S12 attention_scores::equation"
OWN_TESTS, DOCUMENTED_TESTS = 3, 3
OF_S13 = ("shape", "equation", "invariant", "reference", "breakpoint")
ALL = len(planned_checks(load_assignment("vit-debugging")))
WITH_OWN = ALL + OWN_TESTS + DOCUMENTED_TESTS
OWN = """
import pytest

@pytest.mark.stage(label="S13")
def test_own_rows_sum_to_one(stages):
    rows = stages["S13"].sum(-1)
    assert rows.allclose(rows.new_ones(()))

def test_own_comparison(stages, reference):
    assert stages["S09"].allclose(reference["query"])
    assert not stages["S12"].allclose(reference["S12"])

def test_own_question(submission):
    assert {one.id for one in submission.findings()} == {"scale-by-embed-dim"}
"""
DRAWN = """
from hypothesis import given, settings
from vitcheck.api import draws

@settings(max_examples=3, deadline=None)
@given(draw=draws())
def test_drawn(submission, draw):
    scores = submission.model(draw)(draw.image)
    assert scores.shape == (draw.sizes.batch, draw.sizes.classes)

@given(draw=draws())
def test_of_nothing(draw):
    pass
"""
SAVING = """
import json, sys

def pytest_sessionfinish():
    with open("modules.json", "w") as file:
        json.dump(sorted(sys.modules), file)
"""
HEAVY = ("torch", "hypothesis", "numpy", "jinja2", "pydantic", "click", "rich", "vitcheck.checks")


def run_in(folder: Path, *options: str, **environment: str) -> Run:
    """Run pytest as people start it."""
    return forked(["pytest", "-q", *options], folder, outside() | environment)


def run_vit(folder: Path, *options: str) -> Run:
    """The same with a submission as ``--vit`` names it, at small sizes."""
    return run_in(folder, "--vit-assignment", str(write_small_assignment(folder)), "--vit", *options)


def cases(folder: Path) -> dict[str, ElementTree.Element]:
    """What JUnit's file says of each test."""
    found = ElementTree.parse(folder / "junit.xml").iter("testcase")
    return {f"{one.get('classname')}::{one.get('name')}": one for one in found}


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a wrong submission and checks of one's own, and what pytest said of them."""
    folder = tmp_path_factory.mktemp("wrong")
    shutil.copy(WRONG, folder / "vit.py")
    (folder / "test_own.py").write_text(OWN)
    (documented,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    (folder / "test_own_documented.py").write_text(documented)
    run = run_vit(folder, "vit.py", "--strict-markers", "--junitxml=junit.xml")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout + run.stderr
    return folder, run.stdout


def test_one_mistake_is_one_failed_test_with_its_line_and_its_question(wrong: tuple[Path, str]) -> None:
    _, text = wrong
    assert f"FAILED {FAILED} - Scores divided by the square" in text
    assert text.splitlines()[-1].startswith("1 failed, ")
    assert "vit.py:59\n   59 │ scores = " in text
    assert "Which two vectors are multiplied to get one score" in text
    assert "Traceback" not in text
    assert "CheckMissed" not in text


def test_own_checks_ask_for_the_submission_its_stages_and_the_reference(wrong: tuple[Path, str]) -> None:
    own = [one for name, one in cases(wrong[0]).items() if name.startswith("test_own")]
    assert [list(one) for one in own] == [[]] * (OWN_TESTS + DOCUMENTED_TESTS)  # neither failed nor skipped


def test_own_checks_may_draw_sizes_weights_and_images(tmp_path: Path) -> None:
    shutil.copy(WRONG, tmp_path / "vit.py")
    (tmp_path / "test_own.py").write_text(DRAWN)
    run = run_in(tmp_path, "--vit", "vit.py", "-k", "test_drawn")
    assert run.stdout.splitlines()[-1].startswith("1 passed"), run.stdout
    alone = run_in(tmp_path, "-k", "test_of_nothing")
    assert "draws() is for a submission: give its test the fixture that examines one" in alone.stdout


def test_every_check_of_the_assignment_is_a_test_with_its_points(wrong: tuple[Path, str]) -> None:
    mine = [one for name, one in cases(wrong[0]).items() if name.startswith("vit")]
    assert len(mine) == len(planned_checks(load_assignment("vit-debugging")))
    worth = [one.get("value", "") for case in mine for one in case.findall(".//property[@name='points']")]
    assert sum(map(float, worth)) == pytest.approx(100, abs=0.1)


def test_what_failed_last_is_run_again_alone(wrong: tuple[Path, str]) -> None:
    run = run_vit(wrong[0], "vit.py", "--lf")
    assert FAILED in run.stdout
    assert "1 failed" in run.stdout.splitlines()[-1]
    assert "passed" not in run.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("selection", "selected", "of"),
    [
        (("-k", "S12 and equation"), 1, WITH_OWN),
        (("-m", "mistake(id='scale-missing')"), 1, WITH_OWN),
        (("-m", "stage(label='S13')"), len(OF_S13) + 1, WITH_OWN),  # one is the instructor's own
        (("-m", "stage(key='attention_probabilities')", "vit.py"), len(OF_S13), ALL),
        ((FAILED,), 1, 1),
        (("test_own.py",), ALL + OWN_TESTS, ALL + OWN_TESTS),
    ],
)
def test_checks_are_selected_by_name_by_marker_and_by_id(
    wrong: tuple[Path, str], selection: tuple[str, ...], selected: int, of: int
) -> None:
    run = run_vit(wrong[0], "vit.py", "--collect-only", *selection)
    count = str(selected) if selected == of else f"{selected}/{of}"
    assert re.match(rf"{count} tests? ", run.stdout.splitlines()[-1]), run.stdout


def test_with_xdist_the_outcome_is_the_same(wrong: tuple[Path, str]) -> None:
    run = run_vit(wrong[0], "vit.py", "-n", "2")
    first, second = (text.splitlines()[-1].partition(" in ")[0] for text in (wrong[1], run.stdout))
    assert second == first
    assert f"FAILED {FAILED}" in run.stdout


def test_without_a_submission_nothing_of_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(SAVING)
    (tmp_path / "test_plain.py").write_text("def test_plain(): pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "vitcheck.pytest_plugin"]
    subprocess.run(command, cwd=tmp_path, env=outside() | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, check=True)
    loaded = json.loads((tmp_path / "modules.json").read_text())
    assert "vitcheck.pytest_plugin" in loaded
    assert not set(loaded) & set(HEAVY)


def test_a_fixture_without_a_submission_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_own(stages): pass\n")
    assert "the fixture stages needs a submission: pytest --vit FILE" in run_in(tmp_path).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--vit", "vitt.py"), "vitt.py; did you mean vit.py?"),
        (("--vit", "vit.py", "--vit-assignment", "vit-debuging"), "did you mean vit-debugging?"),
        (("--vit", "vit.py", "--vit-seed", "many"), "invalid int value: 'many'"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    (tmp_path / "vit.py").touch()
    run = run_in(tmp_path, *options)
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_what_cannot_be_graded_fails_every_check_with_the_cause(tmp_path: Path) -> None:
    (tmp_path / "vit.py").write_text("import torch\nraise ValueError('\\x1b[31mred\\x00 \\u202e')\n")
    run = run_vit(tmp_path, "vit.py", "-k", "S12 or prints", "--junitxml=junit.xml")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert "passed" not in run.stdout
    failures = [one.find("failure") for one in cases(tmp_path).values()]
    texts = [one.text or "" for one in failures if one is not None]
    assert len(texts) == len(failures) > 1
    assert all("\\x1b[31mred\\x00 \\u202e" in one for one in texts)  # written out


def test_a_folder_is_one_submission_and_no_test_of_it_is_pytests(tmp_path: Path) -> None:
    folder = tmp_path / "handed_in"
    shutil.copytree(EXAMPLES / "package", folder)
    for name in ("conftest.py", "test_of_the_student.py"):
        (folder / name).write_text("raise SystemExit('in the process of pytest')\n")
    run = run_vit(tmp_path, "handed_in", "-k", "S04")
    assert run.returncode == pytest.ExitCode.OK, run.stdout + run.stderr


def test_a_submission_called_as_tests_are_is_not_imported_as_one(tmp_path: Path) -> None:
    (tmp_path / "test_vit.py").write_text(WRONG.read_text() + "\n\ndef test_always_passes(): pass\n")
    run = run_vit(tmp_path, "test_vit.py", "--collect-only", "-k", "passes or S26")
    assert "always" not in run.stdout
    assert "test_vit.py::S26 class_probabilities::equation" in run.stdout


def test_options_for_every_run_leave_grading_as_it_is(tmp_path: Path) -> None:
    shutil.copy(WRONG, tmp_path / "vit.py")
    options = f"--vit vit.py --vit-assignment {write_small_assignment(tmp_path)}"
    run = run_in(tmp_path, "-k", "S12", PYTEST_ADDOPTS=options)
    assert run.stdout.splitlines()[-1].startswith("1 failed"), run.stdout + run.stderr
