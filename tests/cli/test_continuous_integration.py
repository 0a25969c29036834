"""The GitHub action and the GitLab job: the commands that stand in their files, run as these systems do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from junitparser import JUnitXml
from small_assignment import write_small_assignment
from workflow_runner import ACTION, ROOT, Runner, put_vitcheck, repository, run

JOB = ROOT / "docs" / "gitlab" / "vitcheck.gitlab-ci.yml"
WRONG, RIGHT = "scale_by_width.py", "prenorm_conv.py"


@pytest.mark.parametrize(("file", "schema"), [(ACTION, "vendor.github-actions"), (JOB, "vendor.gitlab-ci")])
def test_the_file_is_valid(file: Path, schema: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    subprocess.run(command, check=True, capture_output=True)


def prepared(folder: Path, example: str, **inputs: str) -> Runner:
    """A runner on which the step before has put vitcheck where it belongs."""
    runner = Runner(folder, example, **inputs)
    runner.put_vitcheck_in_place()
    return runner


def test_wrong_work_is_annotated_summed_up_and_fails_the_step(tmp_path: Path) -> None:
    runner = prepared(tmp_path, WRONG, file="hw3/scale_by_width.py")
    graded = runner.step("Grade")
    assert graded.returncode == 0, graded.stderr
    report = runner.step("Report")
    assert report.returncode == 0, report.stderr
    (annotation,) = report.stdout.splitlines()
    assert "file=hw3/scale_by_width.py,line=59::Scores divided by the square root" in annotation
    assert "S12 Attention scores" in runner.summary.read_text()
    outputs = runner.outputs()
    assert (outputs["first-stage"], outputs["first-mistake"]) == ("S12", "scale-by-embed-dim")
    assert 80 < float(outputs["score"]) < float(outputs["possible"]) == 100
    assert runner.fails()
    written = {file.name for file in (tmp_path / "temp" / "vitcheck-report").iterdir()}
    assert written == {"report.html", "result.json"}


def test_a_folder_of_right_work_passes(tmp_path: Path) -> None:
    runner = prepared(tmp_path, RIGHT, file="hw3", fail="true")
    assert runner.step("Grade").returncode == 0
    assert runner.step("Report").stdout == ""
    assert (runner.outputs()["score"], runner.outputs()["first-stage"]) == ("100", "")
    assert not runner.fails()


def test_what_cannot_be_used_fails_with_the_reason_rather_than_a_grade(tmp_path: Path) -> None:
    graded = prepared(tmp_path, WRONG, file="hw3/vit.py").step("Grade")
    assert (graded.returncode, "there is no file or folder hw3/vit.py" in graded.stderr) == (2, True)


def test_actions_are_pinned_by_commit() -> None:
    workflow = (ROOT / "checks" / "tools" / "course" / "templates" / "workflow.jinja").read_text()
    named = re.findall(r"uses: (\S+)", ACTION.read_text() + workflow)
    assert len(named) == 5
    assert [one for one in named if not re.search(r"@[0-9a-f]{40}$", one)] == ["OWNER/vitcheck@v{{"]


def test_the_autograder_of_classroom_50_writes_what_is_asked_of_it(tmp_path: Path) -> None:
    """With vitcheck in the place of what it would install."""
    checkout = repository(tmp_path / "checkout", WRONG)
    text = (ROOT / "docs" / "classroom50" / "autograder.py").read_text()
    here = tmp_path / "bundle"
    here.mkdir()
    installs = [line for line in text.splitlines() if line.startswith("subprocess.run([")]
    assert len(installs) == 2
    text = text.replace("vit_transformer.py", f"hw3/{WRONG}")
    (here / "autograder.py").write_text("\n".join(one for one in text.splitlines() if one not in installs))
    write_small_assignment(here).rename(here / "assignment.toml")
    put_vitcheck(tmp_path / "temp" / "vitcheck" / "bin")
    names = ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL")
    given = {name: name.lower() for name in names} | {"RUNNER_TEMP": str(tmp_path / "temp")}
    done = run(f"{sys.executable} {here / 'autograder.py'}", checkout, **given)
    assert done.returncode == 0, done.stderr
    found = json.loads((checkout / "result.json").read_text())
    assert (found["schema"], found["classroom"], found["review"]) == (
        "classroom50/result/v1",
        "classroom",
        "commit_url",
    )
    assert (found["score"], found["max-score"]) == (88, 100)
    assert sum(one["score"] for one in found["tests"]) == 88


def test_no_input_is_put_into_a_script() -> None:
    """Names of files are a student's: they come as variables, which no shell reads as commands."""
    for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_job_of_gitlab_writes_its_reports_and_fails(tmp_path: Path) -> None:
    job: dict[str, Any] = yaml.safe_load(JOB.read_text())["vitcheck"]
    checkout = repository(tmp_path / "checkout", WRONG)
    put_vitcheck(tmp_path / "bin")
    variables = job["variables"] | {"VITCHECK_FILE": f"hw3/{WRONG}"}
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = run("\n".join(job["script"]), checkout, PATH=path, CI_PROJECT_DIR=str(checkout), **variables)
    assert done.returncode == 1, done.stderr
    reports = job["artifacts"]["reports"]
    (issue,) = json.loads((checkout / reports["codequality"]).read_text())
    assert issue["location"] == {"path": f"hw3/{WRONG}", "lines": {"begin": 59}}
    (suite,) = JUnitXml.fromfile(str(checkout / reports["junit"]))
    assert "equation[S12]" in " ".join(test.name for test in suite if test.result and not test.is_skipped)
    assert (checkout / job["artifacts"]["paths"][0]).read_text().startswith("<!doctype html>")
