"""Graders that are made for notebooks: each submission in a Jupyter kernel of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .grader import NAMES, Command, Grader


class Otter(Grader):
    """``otter run``, given a script: what it does with a notebook, without the notebook."""

    name = "otter run"
    requirements = ("otter-grader", "ipykernel")

    def lay_out(self, folder: Path, submissions: Mapping[str, str]) -> None:
        super().lay_out(folder, submissions)
        for name in submissions:
            (folder / name / "out").mkdir()
        tests = folder / "tests"
        tests.mkdir()
        for name in NAMES:
            (tests / f"{name}.py").write_text(_OTTER_TEST.format(name=name))
        generate = ("otter", "generate", "--tests-dir", "tests", "--no-environment")
        subprocess.run(generate, cwd=folder, env=self.surroundings(), check=True, capture_output=True)

    def commands(self, folder: Path, names: Sequence[str], jobs: int) -> list[Command]:
        options = ("--autograder", "../autograder.zip", "--output-dir", "out", "--no-logo", "vit.py")
        return [Command(("otter", "run", *options), folder / name) for name in names]

    def passed(self, folder: Path, name: str) -> set[str]:
        tests = json.loads((folder / name / "out" / "results.json").read_text())["tests"]
        return {one["name"] for one in tests if one["name"] in NAMES and one["score"] == one["max_score"]}


_OTTER_TEST = """\
import ten_checks
from otter.test_files import test_case

OK_FORMAT = False

name = "{name}"
points = 1


@test_case()
def test_it(env):
    ten_checks.{name}()
"""


class NbGrader(Grader):
    """``nbgrader autograde`` on a whole class; the student's cell writes the file that the checks import."""

    name = "nbgrader"
    requirements = ("nbgrader",)

    def lay_out(self, folder: Path, submissions: Mapping[str, str]) -> None:
        self._write(folder / "source", "")
        for name, text in submissions.items():
            self._write(folder / "submitted" / name, text)
        generate = ("nbgrader", "generate_assignment", "vit", "--create")
        subprocess.run(generate, cwd=folder, env=self.surroundings(), check=True, capture_output=True)

    def _write(self, folder: Path, text: str) -> None:
        cells = [_cell(f"%%writefile vit.py\n{text}", "vit", solution=True)]
        cells += [_cell(f"import ten_checks\nten_checks.{name}()", name, solution=False) for name in NAMES]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4, "cells": cells}
        (folder / "vit").mkdir(parents=True)
        (folder / "vit" / "vit.ipynb").write_text(json.dumps(notebook), "utf-8")

    def commands(self, folder: Path, names: Sequence[str], jobs: int) -> list[Command]:
        return [Command(("nbgrader", "autograde", "vit"), folder)]

    def passed(self, folder: Path, name: str) -> set[str]:
        text = (folder / "autograded" / name / "vit" / "vit.ipynb").read_text()
        tests = [one for one in json.loads(text)["cells"] if one["metadata"]["nbgrader"]["grade"]]
        return {one["metadata"]["nbgrader"]["grade_id"] for one in tests if not _raised(one)}


def _cell(source: str, id: str, *, solution: bool) -> dict[str, Any]:
    kind = {"schema_version": 3, "grade_id": id, "solution": solution, "grade": not solution, "task": False}
    kind |= {"locked": False} if solution else {"locked": True, "points": 1}
    text: dict[str, Any] = {"cell_type": "code", "source": source, "execution_count": None, "outputs": []}
    return {**text, "metadata": {"nbgrader": kind}}


def _raised(cell: Mapping[str, Any]) -> bool:
    return any(one["output_type"] == "error" for one in cell["outputs"])
