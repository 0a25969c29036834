"""The archive for Gradescope: what it holds, and what it makes of submissions where Gradescope puts them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from test_formats import GRADESCOPE

import vitcheck.commands.gradescope
from vitcheck.__main__ import main

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "submissions" / "examples"
ASSIGNMENT = """
name = "week-3"
title = "Week 3"
architectures = ["pre-norm", "report"]
examples = 4
[sizes]
preset = "S/16"
[points]
equations = 40
shapes = 40
own = 20
[visibility]
equations = "after_due_date"
[rules]
breakpoints = false
prints = false
"""
OWN_CHECK = '''
def test_is_small(examination):
    """The scores are numbers."""
    assert examination.examples
'''


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build one for an assignment with a check of the instructor's, from this checkout."""
    folder = tmp_path_factory.mktemp("build")
    (folder / "week3.toml").write_text(ASSIGNMENT)
    (folder / "own").mkdir()
    (folder / "own" / "test_own.py").write_text(OWN_CHECK)
    options = ["--assignment", str(folder / "week3.toml"), "--checks", str(folder / "own")]
    options += ["--torch-index", "https://wheels.example/cpu", "--out", str(folder / "autograder.zip")]
    before = set(ROOT.iterdir())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vitcheck.commands.gradescope, "_origin", lambda: f"vitcheck @ {ROOT.as_uri()}")
        patch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # as pip has it: what is installed here builds
        built = CliRunner().invoke(main, ["gradescope", "build", *options])
    assert built.exit_code == 0, built.output
    assert "is worth 100 points" in built.output
    assert set(ROOT.iterdir()) == before
    return folder / "autograder.zip"


class Autograder:
    """``/autograder`` as Gradescope lays it out, elsewhere, with the wheel in the place of the set-up."""

    def __init__(self, archive: Path, root: Path) -> None:
        self.root = root
        for folder in ("source", "submission", "results", "venv/bin", "wheel"):
            (root / folder).mkdir(parents=True)
        (root / "submission_metadata.json").write_text('{"id": 1, "users": []}')
        subprocess.run(["unzip", "-q", str(archive), "-d", str(root / "source")], check=True)
        shutil.copy(root / "source" / "run_autograder", root)
        (wheel,) = (root / "source").glob("*.whl")
        zipfile.ZipFile(wheel).extractall(root / "wheel")
        self.install('-m vitcheck "$@"', "vitcheck")
        self.install('"$@"', "python")

    def install(self, call: str, name: str) -> None:
        program = self.root / "venv" / "bin" / name
        program.write_text(f'#!/bin/sh\nPYTHONPATH="{self.root}/wheel" exec "{sys.executable}" {call}\n')
        program.chmod(0o755)

    def grade(self, *handed_in: Path) -> Mapping[str, Any]:
        """Run it as Gradescope does, in its folder."""
        for file in handed_in:
            shutil.copy(file, self.root / "submission")
        self.printed = subprocess.run(
            [self.root / "run_autograder"], cwd=self.root, capture_output=True, text=True, timeout=300
        ).stdout
        document: Mapping[str, Any] = json.loads((self.root / "results" / "results.json").read_text())
        jsonschema.validate(document, {**GRADESCOPE, "required": ["score", "tests", "output"]})
        return document


def test_the_archive_holds_what_is_needed_to_set_up_and_to_grade(archive: Path) -> None:
    with zipfile.ZipFile(archive) as members:
        names = set(members.namelist())
        (wheel,) = (name for name in names if name.endswith(".whl"))
        assert names == {
            *("setup.sh", "run_autograder", "failed.json", "assignment.toml", "requirements.txt"),
            *("checks/test_own.py", wheel),
        }
        assert members.read("requirements.txt").decode().splitlines() == [
            "--extra-index-url https://wheels.example/cpu",
            f"./{wheel}",
        ]


@pytest.mark.parametrize("script", ["setup.sh", "run_autograder"])
def test_scripts_are_shell(script: str) -> None:
    subprocess.run(["bash", "-n", str(ROOT / "cli" / "autograder" / script)], check=True)


def test_a_wrong_submission_gets_its_points_and_hides_what_is_hidden(archive: Path, tmp_path: Path) -> None:
    autograder = Autograder(archive, tmp_path / "autograder")
    document = autograder.grade(EXAMPLES / "scale_by_width.py")
    assert 60 < document["score"] < 100
    later = [one for one in document["tests"] if one["visibility"] == "after_due_date"]
    (scores,) = [one for one in later if one["name"].startswith("S12 Attention scores (after the due date)")]
    assert "square root of the full width" in scores["output"]
    shown = [one for one in document["tests"] if one["visibility"] == "visible"]
    told = document["output"] + "".join(one["output"] for one in shown)
    assert "square root" not in told
    assert sum(one["max_score"] for one in document["tests"]) == pytest.approx(100, abs=0.5)
    assert "'isolation': [" in autograder.printed
    assert "model" in {one["name"] for one in shown}, "the check in the folder checks has run"


FORGER = """
import os, pathlib
for name in ("results.json", "forged"):
    try:
        pathlib.Path(%r, name).write_text('{"score": 100, "tests": [], "output": "mine"}')
    except OSError:
        pass
os._exit(0)
"""


@pytest.mark.usefixtures("locks")
def test_a_submission_cannot_write_its_results(archive: Path, tmp_path: Path) -> None:
    autograder = Autograder(archive, tmp_path / "autograder")
    (tmp_path / "vit.py").write_text(FORGER % str(autograder.root / "results"))
    document = autograder.grade(tmp_path / "vit.py")
    assert document["score"] == 0
    assert [file.name for file in (autograder.root / "results").iterdir()] == ["results.json"]


def test_where_the_grader_fails_the_results_say_so(archive: Path, tmp_path: Path) -> None:
    autograder = Autograder(archive, tmp_path / "autograder")
    autograder.install("-c 'raise SystemExit(3)'", "vitcheck")
    document = autograder.grade(EXAMPLES / "scale_by_width.py")
    assert (document["score"], document["tests"]) == (0, [])
    assert "The grader itself failed, which says nothing of your work" in document["output"]


@pytest.mark.parametrize(
    ("noted", "origin"),
    [
        (None, f"vitcheck=={vitcheck.__version__}"),
        ({"url": "file:///course/vitcheck", "dir_info": {}}, "vitcheck @ file:///course/vitcheck"),
        (
            {"url": "https://git.example/vitcheck", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            "vitcheck @ git+https://git.example/vitcheck@c0ffee",
        ),
    ],
)
def test_this_very_version_is_built(
    monkeypatch: pytest.MonkeyPatch, noted: Mapping[str, object] | None, origin: str
) -> None:
    class Installed:
        version = vitcheck.__version__

        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return json.dumps(noted) if noted else None

    monkeypatch.setattr(vitcheck.commands.gradescope, "distribution", lambda _: Installed())
    assert vitcheck.commands.gradescope._origin() == origin


def test_a_version_that_cannot_be_built_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        vitcheck.commands.gradescope, "_origin", lambda: f"vitcheck @ {(tmp_path / 'no').as_uri()}"
    )
    built = CliRunner().invoke(main, ["gradescope", "build", "--out", str(tmp_path / "a.zip")])
    assert (built.exit_code, "pip could not build vitcheck from" in built.output) == (1, True)
    assert not (tmp_path / "a.zip").exists()
