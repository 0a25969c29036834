"""``vitcheck snapshot`` and ``vitcheck trace`` on the examples that ship, at small sizes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Run
from own_picture import painted

from vitcheck.__main__ import main
from vitcheck.checks.record.result import Status
from vitcheck.checks.record.snapshot import Snapshot

EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
ASSIGNMENT = """
name = "small"
title = "A small ViT"
architectures = ["report", "pre-norm"]
examples = 2

[sizes]
height = 48
width = 48
channels = 3
patch = 8
embed_dim = 24
heads = 3
mlp_dim = 48
depth = 4
classes = 12

[points]
equations = 100

[rules]
breakpoints = false

[written.questions.q1]
text = "Why is there a class token?"
rubric = "It gathers what is classified."
stages = ["S05"]
"""
Vitcheck = Callable[..., Run]


@pytest.fixture
def vitcheck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vitcheck:
    """Run a command in a folder with a picture and an assignment."""
    monkeypatch.chdir(tmp_path)
    painted(tmp_path)
    (tmp_path / "small.toml").write_text(ASSIGNMENT)

    def run(*words: object) -> Run:
        own = () if "--assignment" in words else ("--assignment", "small.toml")
        return CliRunner(env={"COLUMNS": "140"}).invoke(main, [*map(str, words), *own])

    return run


def test_a_snapshot_writes_the_page_of_the_reference(vitcheck: Vitcheck) -> None:
    run = vitcheck("snapshot", "--image", "sun.png", "--json", "key.json")
    assert (run.exit_code, run.output) == (0, "snapshot.html shows sun.png at all 26 stages\n")
    page = Path("snapshot.html").read_text("utf-8")
    assert "The reference, stage by stage" in page
    for part in (
        "Why is there a class token?",
        "It gathers what is classified.",
        '<a href="#stage-S05">S05</a>',
    ):
        assert part in page
    assert Snapshot.from_json(Path("key.json").read_bytes()).picture.width == 96


@pytest.mark.parametrize(
    ("name", "file"), [("script.py", "script.py"), ("notebook.ipynb", "notebook.ipynb[")]
)
def test_a_trace_shows_shape_values_and_line_of_each_stage(vitcheck: Vitcheck, name: str, file: str) -> None:
    run = vitcheck("trace", EXAMPLES / name, "--image", "sun.png")
    assert run.exit_code == 0
    rows = {line[2:5]: line for line in run.output.splitlines() if line[2:3] == "S"}
    assert list(rows) == [f"S{number:02d}" for number in range(1, 27)]
    assert "B 1 × h 3 × T 37 × T 37" in rows["S13"]
    assert "-0.06293 -0.06293 …" in rows["S01"]
    assert file in rows["S13"]


def test_a_trace_of_wrong_code_begins_with_what_is_wrong(vitcheck: Vitcheck) -> None:
    run = vitcheck("trace", EXAMPLES / "two_mistakes.py", "--image", "sun.png", "--seed", 7)
    assert run.exit_code == 1
    assert "✗ Softmax taken over the queries\nS13 Attention probabilities · " in run.output
    assert "two_mistakes.py:46" in run.output


def test_stages_that_are_not_reached_are_said_with_the_reason(vitcheck: Vitcheck) -> None:
    text = (EXAMPLES / "two_mistakes.py").read_text("utf-8")
    wrong = text.replace(
        "attn_probs = F.softmax(attn_scores, dim=-2)", "attn_probs = attn_scores @ v[0, 0, 1:]"
    )
    Path("broken.py").write_text(wrong, encoding="utf-8")
    run = vitcheck("trace", "broken.py", "--image", "sun.png")
    assert run.exit_code == 1
    rows = {line[2:5]: line for line in run.output.splitlines() if line[2:3] == "S"}
    assert "B 1 × h 3 × T 37 × T 37" in rows["S12"]
    assert rows["S14"].startswith("? S14  Context per head")
    assert "S14 Context per head, not checked yet: the forward pass stopped before it" in run.output


def test_a_trace_of_code_that_does_not_load_says_why(vitcheck: Vitcheck) -> None:
    options = ("--image", "sun.png", "--html", "page.html", "--json", "data.json")
    run = vitcheck("trace", EXAMPLES / "syntax_error.py", *options)
    assert (run.exit_code, run.output) == (1, "page.html shows sun.png at the stages of syntax_error.py\n")
    assert "Syntax error: &#39;(&#39; was never closed." in Path("page.html").read_text("utf-8")
    assert json.loads(Path("data.json").read_text())["status"] == Status.NOT_LOADED.value


@pytest.mark.parametrize("words", [("snapshot",), ("trace", EXAMPLES / "report_block.py")])
def test_a_picture_that_is_none_is_a_usage_error(vitcheck: Vitcheck, words: tuple[object, ...]) -> None:
    Path("cat.jpg").write_text("meow")
    run = vitcheck(*words, "--image", "cat.jpg")
    assert run.exit_code == 2
    assert "cat.jpg is not an image that can be read" in run.output
    run = vitcheck(*words, "--image", "sum.png")
    assert run.exit_code == 2
    assert "there is no file or folder sum.png; did you mean sun.png?" in run.output


def test_an_assignment_without_a_model_is_a_usage_error(vitcheck: Vitcheck) -> None:
    run = vitcheck("snapshot", "--image", "sun.png", "--assignment", "vit-basics")
    assert run.exit_code == 2
    assert "vit-basics asks for parts of a model alone" in run.output
