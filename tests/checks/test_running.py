"""Checks run whatever lies around them, an instructor's too, and each leaves a record."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from examining import examine

from vitcheck.checks.assignment.asked_points import Points
from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.verdicts import CheckOutcome
from vitcheck.checks.grading.running import run_checks
from vitcheck.submissions.errors import Crashed
from vitcheck.submissions.questions.plain_passes import RunPasses
from vitcheck.submissions.questions.question import Question

OWN = '''
import pytest

def test_width(examination):
    """is wider than high"""
    sizes = examination.first_draw.sizes
    assert sizes.width < 0, f"the width is {sizes.width}"

@pytest.mark.parametrize("label", ["S12"])
def test_scores(examination, label):
    assert examination.examples[0].first("attention_scores") is not None

def test_later():
    pytest.skip("not this year")

def test_broken():
    {}["key"]
'''


@pytest.fixture(scope="module")
def examination() -> Examination:
    return examine("report")


def own(outcomes: list[CheckOutcome]) -> dict[str, CheckOutcome]:
    return {one.id: one for one in outcomes if one.id.startswith("own.")}


def summary(outcomes: list[CheckOutcome]) -> list[tuple[str, str]]:
    return [(one.id, one.outcome) for one in outcomes]


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_every_check_has_a_record_a_title_and_its_stage(examination: Examination) -> None:
    outcomes = run_checks(examination)
    ids = [one.id for one in outcomes]
    assert len(set(ids)) == len(ids)
    assert {one.partition("[")[0] for one in ids} == {
        "shape", "equation", "invariant", "reference", "property", "output", "parameters",
        "breakpoint", "prints", "library_model", "imports",
    }  # fmt: skip
    by_id = {one.id: one for one in outcomes}
    assert by_id["equation[S12]"].stage == "attention_scores"
    assert by_id["property[batch-sizes]"].stage is None
    assert all(one.title for one in outcomes)
    assert {one.id: one.outcome for one in outcomes if one.outcome != "passed"} == {
        "library_model": "skipped",
        "output[class-attention]": "skipped",
        "output[patch-tokens]": "skipped",
        "parameters": "skipped",
        "property[eval-mode-in-scripts]": "skipped",
        "property[other-resolution]": "skipped",
        "property[uneven-image]": "skipped",
        "property[own-sizes]": "skipped",
        "property[images-reach-scores]": "skipped",
        "property[kept-is-scaled]": "skipped",
        "property[own-pass]": "skipped",
        "property[loss]": "skipped",
        "property[training]": "skipped",
        "property[predictions]": "skipped",
        "property[preprocessing]": "skipped",
    }


def test_an_instructors_checks_run_with_the_fixtures(examination: Examination, tmp_path: Path) -> None:
    outcomes = own(run_checks(examination, write(tmp_path / "own", test_own=OWN)))
    assert {name: one.outcome for name, one in outcomes.items()} == {
        "own.width": "failed",
        "own.scores[S12]": "passed",
        "own.later": "skipped",
        "own.broken": "errored",
    }
    width = examination.first_draw.sizes.width
    assert f"the width is {width}" in outcomes["own.width"].message
    assert outcomes["own.width"].title == "is wider than high"
    assert outcomes["own.scores[S12]"].stage == "attention_scores"
    assert outcomes["own.later"].message.endswith("not this year")
    assert outcomes["own.broken"].message == "KeyError: 'key'"


def test_where_own_checks_alone_are_paid_for_nothing_else_runs(
    examination: Examination, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = examination.assignment.model_copy(update={"points": Points(own=10)})
    monkeypatch.setattr(examination, "assignment", asked)
    outcomes = run_checks(examination, write(tmp_path / "own", test_own="def test_it():\n    pass\n"))
    assert summary(outcomes) == [("own.it", "passed")]
    assert run_checks(examination)  # without a folder of them there are vitcheck's own


def test_checks_are_read_anew_each_time(examination: Examination, tmp_path: Path) -> None:
    (tmp_path / "__init__.py").touch()  # a package around them, too
    for verdict in ("passed", "failed"):
        text = f"def test_it():\n    assert {verdict == 'passed'}\n"
        for folder in (
            tmp_path / verdict,
            tmp_path / "same",
        ):  # same name elsewhere, and other text in one place
            outcomes = own(run_checks(examination, write(folder, test_stages=text)))
            assert outcomes["own.it"].outcome == verdict


def test_a_fixture_of_their_own_is_theirs_and_of_the_folder_above_is_not(
    examination: Examination, tmp_path: Path
) -> None:
    write(tmp_path, conftest="raise RuntimeError('another project')\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    conftest = "import pytest\n@pytest.fixture\ndef seven():\n    return 7\n"
    checks = write(
        tmp_path / "own", conftest=conftest, test_own="def test_it(seven):\n    assert seven == 7\n"
    )
    assert own(run_checks(examination, checks))["own.it"].outcome == "passed"


def test_what_is_set_or_installed_beside_it_changes_nothing(
    examination: Examination, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = write(tmp_path / "own", test_own="def test_it():\n    pass\n")
    before = summary(run_checks(examination, checks))
    write(tmp_path, conftest="raise RuntimeError('another project')\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_functions = none_*\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing --maxfail=1")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    assert summary(run_checks(examination, checks)) == before
    assert os.environ["PYTEST_ADDOPTS"] == "-k nothing --maxfail=1"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"test_own": "import no_such_module\n"}, "No module named 'no_such_module'"),
        ({"test_own": "def test_it(:\n"}, "SyntaxError"),
        ({"helpers": "x = 1\n"}, "no test_\\*.py with a test in it"),
    ],
)
def test_checks_that_cannot_be_run_are_the_graders_fault(
    examination: Examination, tmp_path: Path, files: dict[str, str], says: str
) -> None:
    with pytest.raises(RuntimeError, match=says):
        run_checks(examination, write(tmp_path / "own", **files))


def test_ctrl_c_ends_everything_and_is_nobodys_fault(examination: Examination, tmp_path: Path) -> None:
    checks = write(tmp_path / "own", test_own="def test_it():\n    raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        run_checks(examination, checks)


def test_a_process_that_ended_is_the_cause_of_what_needed_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    examination = examine("report")
    assert examination.examples
    assert examination.full_shapes().shapes

    ask = examination.session.ask

    def asked(question: Question[Any]) -> Any:
        if isinstance(question, RunPasses):
            raise Crashed("it ended by itself")
        return ask(question)

    monkeypatch.setattr(examination.session, "ask", asked)
    outcomes = {one.id: one for one in run_checks(examination)}
    assert outcomes["property[gradients]"].outcome == "errored"
    assert outcomes["property[gradients]"].message == "it ended by itself"
    assert outcomes["equation[S12]"].outcome == "passed"


def test_a_failed_check_says_how_to_repeat_it() -> None:
    examination = examine("report-softmax-over-batch", seed=5)
    outcomes = {one.id: one for one in run_checks(examination)}
    example = outcomes["equation[S13]"].counterexample
    assert example is not None
    assert example["command"] == "vitcheck check report.py --assignment vit-debugging --seed 5"
    assert {"batch", "heads", "embed_dim", "seed"} <= set(example)
