"""``vitcheck validate``: the command as it is started, on exercises, which take no time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from filled import filled
from samples import all_passed

from vitcheck.checks.assignment.assignment import load_assignment, parse_assignment
from vitcheck.checks.record.result import CheckResult, Outcome
from vitcheck.checks.tools.course.problems import unpaid
from vitcheck.checks.tools.course.skeleton import skeleton
from vitcheck.checks.tools.course.validation import Fate, Validation

ROLLOUT = load_assignment("vit-rollout")
RIGHT = filled("vit-rollout", skeleton(ROLLOUT))
REVERSED = RIGHT.replace("result = one @ result\n", "result = result @ one\n")
CORNERS = RIGHT.replace('mode="bilinear")', 'mode="bilinear", align_corners=True)')


def validate(
    folder: Path, *options: str, assignment: str = "vit-rollout"
) -> subprocess.CompletedProcess[str]:
    (folder / "right.py").write_text(RIGHT)
    return subprocess.run(
        [sys.executable, "-m", "vitcheck", "validate", assignment, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_where_all_is_as_it_should_be_the_mistakes_are_told_that_cost_nothing(tmp_path: Path) -> None:
    (tmp_path / "rollout-order-reversed.py").write_text(REVERSED)
    (tmp_path / "any.py").write_text(REVERSED)
    wrong = ("--wrong", "rollout-order-reversed.py", "--wrong", "any.py")
    run = validate(tmp_path, "--solution", "right.py", *wrong, "--seeds", "2", "--json", "found.json")
    assert run.returncode == 0, run.stdout + run.stderr
    first, _, *lines = run.stdout.splitlines()
    assert first == "vit-rollout: no problem was found"
    assert lines[:4] == [
        "   100 of 100  the solution, seed 0",
        "   100 of 100  the solution, seed 1",
        "    70 of 100  rollout-order-reversed.py  rollout-order-reversed",
        "    70 of 100  any.py  rollout-order-reversed",
    ]
    found = Validation.model_validate_json((tmp_path / "found.json").read_text())
    fates = {one.id: one.fate for one in found.mistakes}
    assert fates["resize-align-corners"] is Fate.ALLOWED
    assert fates["rollout-order-reversed"] is Fate.UNTRIED
    assert "allowed by the assignment: " in run.stdout
    assert "resize-align-corners" in run.stdout


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text(REVERSED)
    (tmp_path / "kept.py").write_text(RIGHT)
    (tmp_path / "resize-align-corners.py").write_text(CORNERS)
    (tmp_path / "other.py").write_text(f"# MISTAKE rollout-transposed\n{REVERSED}")
    (tmp_path / "unknown.py").write_text(f"{REVERSED}# MISTAKE rollout-revers\n")
    (tmp_path / "broken.py").write_text("def \x1b[31m(:\n")
    names = ("kept", "resize-align-corners", "other", "unknown", "broken")
    wrong = [part for name in names for part in ("--wrong", f"{name}.py")]
    run = validate(tmp_path, "--solution", "solution.py", *wrong, "--seeds", "1")
    assert run.returncode == 1, run.stderr
    for line in (
        "vit-rollout: 6 problems",
        "  the solution misses exercise[attention_rollout] (30 points, seed 0): ",
        "  kept.py: it keeps all points",
        "  resize-align-corners.py: it keeps all points, since resize-align-corners is allowed",
        "  other.py: it loses points, but not by rollout-transposed: seen was rollout-order-reversed",
        "  unknown.py: # MISTAKE: 'rollout-revers' is not a known mistake; did you mean rollout-",
        "  broken.py: it cannot be graded, which shows nothing: ",
    ):
        assert line in run.stdout
    assert "\x1b" not in run.stdout


def test_all_that_is_wrong_in_the_file_is_told_with_its_lines(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\ntitle = 3\narchitectures = ["pre-norm"]\n'
        '[sizes]\npreset = "B/17"\n[points]\nshaps = 1\n'
    )
    run = validate(tmp_path, "--solution", "right.py", assignment="mine.toml")
    assert run.returncode == 2
    for text in (
        "line 2: title: must be a text",
        "'B/17' is not a named size",
        "line 7: points.shaps: is not a key",
    ):
        assert text in run.stderr


@pytest.mark.parametrize("options", [(), ("--solution", "rihgt.py")])
def test_a_solution_has_to_be_there(tmp_path: Path, options: tuple[str, ...]) -> None:
    run = validate(tmp_path, *options)
    assert run.returncode == 2
    assert "did you mean right.py?" in run.stderr if options else "Missing option '--solution'" in run.stderr


def test_points_that_nothing_earns_are_told_with_their_line() -> None:
    text = """name = "mine"
title = "Mine"
architectures = ["report"]
[sizes]
preset = "B/16"
[points]
equations = 80
outputs = 10
own = 10
[points.checks]
"equation[S99]" = 4
"""
    passed = CheckResult(
        id="equation[S09]", stage="S09", title="", outcome=Outcome.PASSED, points=1, earned=1
    )
    skipped = passed.model_copy(
        update={"id": "output[patch-tokens]", "outcome": Outcome.SKIPPED, "message": "not asked for"}
    )
    right = all_passed().model_copy(update={"checks": [passed, skipped]})
    assert list(unpaid(parse_assignment(text, "mine.toml"), text, right)) == [
        "line 8: points.outputs pays 10 for nothing: not asked for",
        "line 9: points.own pays 10 for nothing: there are no such checks",
        "line 11: points.checks: there is no check 'equation[S99]'; did you mean equation[S09]?",
    ]
