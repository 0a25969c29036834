"""Runs the commands of the GitHub action, and those of other systems, as these do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
ACTION = ROOT / "action.yml"
VALUES = re.compile(r"\$\{\{ ([\w.-]+) }}")


def repository(folder: Path, example: str) -> Path:
    """A checkout with a submission in a folder."""
    (folder / "hw3").mkdir(parents=True)
    shutil.copy(ROOT / "submissions" / "examples" / example, folder / "hw3")
    return folder


def run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """As the runner calls bash."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    variables = os.environ | environment
    return subprocess.run(command, cwd=folder, env=variables, text=True, capture_output=True, timeout=3000)


def put_vitcheck(folder: Path) -> None:
    """The program as pip puts it there: Python does not look into the working folder for what it imports."""
    folder.mkdir(parents=True, exist_ok=True)
    program = Path(sys.executable).with_name("vitcheck")
    (folder / "vitcheck").write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
    (folder / "vitcheck").chmod(0o755)


class Runner:
    """What a runner of GitHub makes of the steps of action.yml that are commands."""

    def __init__(self, folder: Path, example: str, checkout: Path = ROOT, /, **inputs: str) -> None:
        action = yaml.safe_load(ACTION.read_text())
        self._steps = {step["name"]: step for step in action["runs"]["steps"] if "run" in step}
        self._values = {f"inputs.{key}": one.get("default", "") for key, one in action["inputs"].items()}
        self._values |= {f"inputs.{key}": one for key, one in inputs.items()}
        self._values["runner.temp"] = str(folder / "temp")
        self._checkout = checkout
        self._workspace = repository(folder / "workspace", example)
        self._temp = folder / "temp"
        self._temp.mkdir()
        self.summary = folder / "summary"
        self.programs = self._temp / "vitcheck" / "bin"

    def put_vitcheck_in_place(self) -> None:
        """As the step does that installs it."""
        put_vitcheck(self.programs)

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        step = self._steps[name]
        file = self._temp / "output"
        file.write_text("")
        environment = {key: self._filled(text) for key, text in step.get("env", {}).items()}
        environment |= {
            "GITHUB_ACTION_PATH": str(self._checkout),
            "GITHUB_OUTPUT": str(file),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_WORKSPACE": str(self._workspace),
            "RUNNER_TEMP": str(self._temp),
        }
        done = run(step["run"], self._workspace, **environment)
        lines = (line.split("=", 1) for line in file.read_text().splitlines())
        self._values |= {f"steps.{step.get('id')}.outputs.{name}": value for name, value in lines}
        return done

    def outputs(self) -> Mapping[str, str]:
        outputs = yaml.safe_load(ACTION.read_text())["outputs"]
        return {name: self._filled(one["value"]) for name, one in outputs.items()}

    def fails(self) -> bool:
        """Whether the last step is run, and fails."""
        condition = self._steps["Fail if something is wrong"]["if"]
        assert condition == "${{ inputs.fail == 'true' && steps.grade.outputs.code != '0' }}"
        asked = self._values["inputs.fail"] == "true" and self._values["steps.grade.outputs.code"] != "0"
        return asked and self.step("Fail if something is wrong").returncode != 0

    def _filled(self, text: str) -> str:
        return VALUES.sub(lambda matched: self._values[matched[1]], text)
