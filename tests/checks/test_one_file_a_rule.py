"""A mistake, a variant, a check of stages, a property and a rule about the code are one file each.

They are added to a copy of the package, and a program that breaks them all is graded by it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MISTAKE = '''
[weights-squared]
stage = "attention_context"
kind = "error"
title = "the weights squared before they average the values"
hint = "To what do the numbers sum by which the values are weighted?"
explanation = """
Squared weights no longer sum to one, so that each token is shorter than an average."""
experiment = "Compare the context of a uniform attention with the mean of the values."
equation.attention_context = "probabilities.square() @ value"
'''
VARIANT = '''
[softplus-instead-of-gelu]
stage = "mlp_hidden"
kind = "variant"
title = "softplus in the MLP where GELU is asked for"
hint = "What does a hidden unit become that is far below zero?"
explanation = """
Softplus never goes below zero, and is smooth."""
experiment = "Look at the smallest hidden value."
equation.gelu = "torch.nn.functional.softplus(x)"
'''
HEAD = """
from vitcheck.checks.assignment.kinds import Kind
from vitcheck.checks.examining.verdicts import CheckFailed
from vitcheck.checks.rules.declaring import each_stage, once
"""
STAGE_CHECK = f'''{HEAD}
@each_stage(
    Kind(id="magnitude", group="magnitudes", pays_for="no stage is large", order=25, judges_stage=True),
    lambda family: [family.stage("logits"), family.stage("mlp_hidden")],
)
def check_magnitude(examination, key):
    """Stays in bounds."""
    if key == "logits":
        raise CheckFailed("a logit is much too large")
'''
CODE_RULE = f'''{HEAD}
@once(Kind(id="todo", group="prints", pays_for="a finished file", order=65))
def check_todo(examination):
    """Nothing is left to do."""
    if any(b"TODO" in content for content in examination.source.files.values()):
        raise CheckFailed("there is something left to do")
'''
BROKEN = f'''{HEAD}
@once(Kind(id="broken", group="prints", pays_for="a finished file", order=66))
def check_broken(examination):
    """Is whole."""
    return {{}}["of the grader"]
'''
PROPERTY = '''
from vitcheck.checks.examining.verdicts import CheckFailed
from vitcheck.checks.rules.properties import holds

@holds(order=15)
def scores_are_calm(examination):
    """The scores stay calm."""
    raise CheckFailed("they are not calm at all", (), examination.first_draw)
'''
ADDED = {
    "mistakes/values.toml": MISTAKE,
    "mistakes/softplus.toml": VARIANT,
    "rules/kinds/magnitude.py": STAGE_CHECK,
    "rules/kinds/todo.py": CODE_RULE,
    "rules/kinds/broken.py": BROKEN,
    "rules/properties/calm.py": PROPERTY,
}
ASSIGNMENT = """
name = "own"
title = "One file a rule"
architectures = ["report"]
examples = 2
[sizes]
preset = "S/16"
[points]
equations = 50
magnitudes = 4
properties = 40
prints = 6
[visibility]
magnitudes = "hidden"
"""
EDITS = {
    "attn_ctx = attn_probs @ v": "attn_ctx = (attn_probs * attn_probs) @ v",
    "nn.GELU()": "nn.Softplus()  # TODO",
}
TOLD = """
import json, sys
from pathlib import Path
from coverage_table import document
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.tools.course.planting import reference_as_submission
from vitcheck.checks.tools.course.starting import Wishes, course_files
for name, content in reference_as_submission("report", "weights-squared").files.items():
    Path("planted", name).parent.mkdir(parents=True, exist_ok=True)
    Path("planted", name).write_bytes(content)
handout = course_files(Wishes("own", "own.toml"))["handout/README.md"]
json.dump({"document": document(), "handout": handout}, sys.stdout)
"""


@dataclass(frozen=True)
class Graded:
    """What is said of a program that breaks every rule that was added."""

    terminal: str
    page: str
    result: dict[str, Any]
    folder: Path

    def check(self, id: str) -> dict[str, Any]:
        (found,) = (one for one in self.result["checks"] if one["id"] == id)
        return dict(found)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package, the files in it, and the program."""
    place = tmp_path_factory.mktemp("place")
    package = place / "site" / "vitcheck"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "cli", package, ignore=ignored)
    for folder in ("checks", "reference", "reports", "submissions"):
        shutil.copytree(ROOT / folder, package / folder, ignore=ignored)
    for name, text in ADDED.items():
        assert not (package / "checks" / name).exists()
        (package / "checks" / name).write_text(text)
    program = (ROOT / "submissions" / "examples" / "report_block.py").read_text("utf-8")
    for old, new in EDITS.items():
        assert program.count(old) == 1
        program = program.replace(old, new)
    (place / "vit.py").write_text(program)
    (place / "own.toml").write_text(ASSIGNMENT)
    return place


def ran(place: Path, *arguments: str) -> str:
    """What the copy prints."""
    path = os.pathsep.join(map(str, (place / "site", ROOT / "tests", ROOT / "tests" / "checks")))
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def graded(place: Path) -> Graded:
    arguments = ("vit.py", "--assignment", "own.toml", "--html", "report.html", "--json", "result.json")
    terminal = ran(place, "-m", "vitcheck", "check", *arguments)
    page = (place / "report.html").read_text("utf-8")
    return Graded(terminal, page, json.loads((place / "result.json").read_text("utf-8")), place)


@pytest.fixture(scope="module")
def told(place: Path) -> dict[str, str]:
    """What is written of the rules; a planted mistake lies in the folder then."""
    written: dict[str, str] = json.loads(ran(place, "-c", TOLD))
    return written


def _about(points: float) -> Any:
    """With a part of the points of what was skipped: more with every property that has no occasion here."""
    return pytest.approx(points, rel=0.2)


def test_a_mistake_is_recognised_shown_and_paid_for(graded: Graded) -> None:
    title = "the weights squared before they average the values"
    assert "weights-squared" in [one["id"] for one in graded.result["mistakes"]]
    assert graded.result["stages"]["S14"]["mistakes"] == ["weights-squared"]
    check = graded.check("equation[S14]")
    assert (check["outcome"], check["earned"], check["points"]) == ("failed", 0, _about(2))
    assert title in graded.terminal.lower()
    assert title in graded.page.lower()
    explained = ran(graded.folder, "-m", "vitcheck", "explain", "weights-squared")
    assert "Squared weights no longer sum to one" in explained


def test_a_mistake_is_planted_and_documented(place: Path, told: dict[str, str]) -> None:
    assert "| weights-squared | S14 | error | stage equation |" in told["document"]
    ran(place, "-m", "vitcheck", "check", "planted", "--assignment", "own.toml", "--json", "planted.json")
    result = json.loads((place / "planted.json").read_text("utf-8"))
    assert [one["id"] for one in result["mistakes"]] == ["weights-squared"]


def test_a_variant_is_recognised_and_shown_and_costs_nothing(graded: Graded, told: dict[str, str]) -> None:
    (found,) = (one for one in graded.result["variants"] if one["id"] == "softplus-instead-of-gelu")
    assert (found["stage"], found["allowed"]) == ("S17", True)
    assert graded.check("equation[S17]")["outcome"] == "passed"
    assert "softplus in the mlp where gelu is asked for" in graded.page.lower()
    assert "| softplus-instead-of-gelu | S17 | variant | stage equation |" in told["document"]


def test_a_check_of_stages_is_run_paid_for_and_makes_its_stage_wrong(
    graded: Graded, told: dict[str, str]
) -> None:
    right, wrong = graded.check("magnitude[S17]"), graded.check("magnitude[S25]")
    assert (right["title"], right["outcome"], right["earned"]) == ("Stays in bounds.", "passed", _about(2))
    assert (wrong["stage"], wrong["outcome"], wrong["earned"]) == ("S25", "failed", 0)
    assert (wrong["points"], wrong["visibility"]) == (_about(2), "hidden")
    assert graded.result["stages"]["S25"]["status"] == "failed"
    assert "a logit is much too large" in graded.page.lower()
    assert "| 4 | further checks, which you are told of later |" in told["handout"]  # hidden as they are


def test_a_property_is_run_shown_and_paid_for(graded: Graded) -> None:
    check = graded.check("property[scores-are-calm]")
    assert (check["title"], check["outcome"]) == ("The scores stay calm.", "failed")
    assert check["points"] == _about(40 / 43)  # its share of the group's forty
    assert check["counterexample"]["seed"] is not None
    assert "they are not calm at all" in graded.page.lower()


def test_a_rule_about_the_code_is_run_shown_and_paid_for(graded: Graded) -> None:
    check = graded.check("todo")
    assert (check["outcome"], check["points"]) == ("failed", _about(2))  # of six for three
    assert "there is something left to do" in graded.page.lower()


def test_a_check_that_errs_is_shown_everywhere(graded: Graded) -> None:
    check = graded.check("broken")
    assert (check["outcome"], check["earned"]) == ("errored", 0)
    assert "The check broken ended with an error: 2.00 points are not earned." in graded.terminal
    assert "The check broken ended with an error: 2.00 points are not earned." in graded.page
    assert "KeyError: &#39;of the grader&#39;" in graded.page
