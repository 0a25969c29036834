"""Results in the formats of GitHub, GitLab, Gradescope and whoever reads JUnit XML."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml
from samples import (
    HOSTILE,
    a_class,
    all_passed,
    check,
    hostile,
    not_loaded,
    result,
    scaled_by_embed_dim,
    two_mistakes,
)

from vitcheck.checks.record.result import Outcome, Result, Visibility
from vitcheck.reports.formats import FORMATS
from vitcheck.reports.formats.repository import Repository

VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
GRADESCOPE = {  # as its documentation describes the file, with nothing in it that we do not write
    "type": "object",
    "additionalProperties": False,
    "required": ["score", "tests", "execution_time", "stdout_visibility", "output"],
    "properties": {
        "score": {"type": "number", "minimum": 0},
        "execution_time": {"type": "integer"},
        "output": {"type": "string"},
        "output_format": FORMAT,
        "test_output_format": FORMAT,
        "test_name_format": FORMAT,
        "stdout_visibility": VISIBILITY,
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "score", "max_score", "visibility"],
                "properties": {
                    "name": {"type": "string"},
                    "score": {"type": "number"},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "output": {"type": "string"},
                    "visibility": VISIBILITY,
                },
            },
        },
    },
}
CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string"},
            "check_name": {"type": "string"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^/]"},
                    "lines": {"properties": {"begin": {"type": "integer", "minimum": 1}}},
                },
            },
        },
    },
}
EACH = pytest.mark.parametrize("graded", a_class(), ids=lambda one: one.submission[:10])


def rendered(graded: Result, to: str, folder: str = "hw3") -> str:
    return FORMATS[to](graded, Repository(folder))


def in_gradescope(graded: Result) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(rendered(graded, "gradescope"))
    jsonschema.validate(document, GRADESCOPE)
    return document


def for_classroom(graded: Result) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(rendered(graded, "classroom50"))
    return document


def read_command(line: str) -> tuple[dict[str, str], str]:
    """As the runner does."""
    matched = re.fullmatch(r"::error (.*?)::(.*)", line)
    assert matched is not None

    def plain(text: str) -> str:
        for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            text = text.replace(code, character)
        return text

    pairs = (one.split("=", 1) for one in matched[1].split(","))
    return {name: plain(value) for name, value in pairs}, plain(matched[2])


def test_the_failing_line_is_annotated_with_the_mistake_and_the_question() -> None:
    (line,) = rendered(scaled_by_embed_dim(), "github-annotations").splitlines()
    properties, message = read_command(line)
    assert properties == {
        "title": "S12: attention scores",
        "file": "hw3/vit_transformer.py",
        "line": "58",
    }
    assert message.startswith("Scores divided by the square root of the full width.\nWhich two vectors")


def test_a_cell_of_a_notebook_is_named_since_its_lines_have_no_number_in_the_file() -> None:
    properties, message = read_command(rendered(two_mistakes(), "github-annotations").splitlines()[0])
    assert (properties["file"], "line" in properties) == ("hw3/vit.ipynb", False)
    assert message.endswith("vit.ipynb[4]:8")


@EACH
def test_what_a_student_wrote_starts_no_workflow_command(graded: Result) -> None:
    for line in rendered(graded, "github-annotations").splitlines():
        properties, _ = read_command(line)
        assert set(properties) <= {"title", "file", "line"}


def test_what_could_not_be_loaded_is_annotated_where_loading_stopped() -> None:
    properties, message = read_command(rendered(not_loaded(), "github-annotations").strip())
    assert (properties["file"], properties["line"]) == ("hw3/vit_transformer.py", "12")
    assert "was never closed" in message


def test_right_work_has_no_annotation() -> None:
    assert rendered(all_passed(), "github-annotations") == ""


def test_outputs_of_the_step() -> None:
    lines = rendered(scaled_by_embed_dim(), "github-outputs").splitlines()
    assert lines == [
        *("score=96.5", "possible=100", "status=graded"),
        *("first-stage=S12", "first-mistake=scale-by-embed-dim"),
    ]


@EACH
def test_no_student_sets_an_output(graded: Result) -> None:
    names = [line.partition("=")[0] for line in rendered(graded, "github-outputs").splitlines()]
    assert names == ["score", "possible", "status", "first-stage", "first-mistake"]


@EACH
def test_classroom_has_whole_points_that_add_up(graded: Result) -> None:
    document = for_classroom(graded)
    assert abs(document["max-score"] - graded.score.possible) <= 0.5
    assert abs(document["score"] - graded.score.earned) <= 0.5
    assert document["score"] == sum(one["score"] for one in document["tests"])
    assert all(isinstance(one["max-score"], int) for one in document["tests"])
    assert all(one["passed"] for one in document["tests"]) == (graded.score.earned == 100)


def test_the_summary_shows_the_pipeline_the_first_mistake_and_the_question() -> None:
    text = rendered(scaled_by_embed_dim(), "github-summary")
    assert text.count("<td>✓</td>") == 25
    assert "<td>✗</td><td>S12 attention scores</td><td>1 × 12 × 197 × 197</td>" in text
    assert "S12 attention scores · vit_transformer.py, line 58" in text
    assert "how many numbers has each of them?" in text


@EACH
def test_nothing_in_a_summary_is_markdown_or_a_tag_of_the_students(graded: Result) -> None:
    text = rendered(graded, "github-summary")
    assert "" not in text.strip().splitlines(), "an empty line would end the HTML"
    tags = set(re.findall(r"</?([a-z0-9]+)", text))
    listed = "div h3 p strong br code table tr th td em details summary"
    assert tags <= set(listed.split())


@EACH
def test_code_quality_reports_are_valid(graded: Result) -> None:
    jsonschema.validate(json.loads(rendered(graded, "gitlab-code-quality")), CODE_QUALITY)


def test_a_fingerprint_outlives_lines_put_in_above() -> None:
    graded = scaled_by_embed_dim()
    stage = graded.stages["S12"]
    assert stage.location is not None
    moved = stage.model_copy(update={"location": stage.location.model_copy(update={"line": 70})})
    later = graded.model_copy(update={"stages": graded.stages | {"S12": moved}})
    (one,), (other,) = (json.loads(rendered(each, "gitlab-code-quality")) for each in (graded, later))
    assert (one["location"]["lines"]["begin"], other["location"]["lines"]["begin"]) == (58, 70)
    assert one["fingerprint"] == other["fingerprint"]


@EACH
def test_junit_counts_each_check_once(graded: Result) -> None:
    (suite,) = JUnitXml.fromstring(rendered(graded, "junit").encode())
    assert suite.tests == len(list(suite)) == max(len(graded.checks), 1)
    failing = [one for one in graded.checks if one.costs]
    assert suite.failures == sum(bool(test.result) and not test.is_skipped for test in suite)
    assert suite.failures == (len(failing) if graded.checks else 1)


@pytest.mark.parametrize("to", ["junit", "gradescope"])
def test_a_check_that_is_worth_nothing_fails_nothing(to: str) -> None:
    """Agreement with the reference ends at the first mistake, for all later stages at once."""
    parted = check("S20", id="reference[S20]", points=0, earned=0, outcome=Outcome.FAILED)
    graded = result("ann", checks=[parted])
    text = rendered(graded, to)
    assert "<failure" not in text
    assert '"failed"' not in text


def test_a_test_of_gradescope_is_a_stage() -> None:
    document = in_gradescope(scaled_by_embed_dim())
    assert len(document["tests"]) == 27
    (wrong,) = [one for one in document["tests"] if one["status"] == "failed"]
    assert (wrong["name"], wrong["score"], wrong["max_score"]) == (
        "S12 attention scores: Scores divided by the square root of the full width",
        *(0, 3.5),
    )
    for part in ("the full width", "vit_transformer.py, line 58", "how many numbers", "0.289 times"):
        assert part in wrong["output"]
    assert (document["score"], document["stdout_visibility"]) == (96.5, "hidden")


@EACH
def test_results_for_gradescope_are_valid(graded: Result) -> None:
    assert in_gradescope(graded)["score"] == graded.score.earned


def test_a_component_is_a_test_of_its_own() -> None:
    ids = ("component[mlp.values]", "component[mlp.shape]", "component[head.values]", "exercise[fuse_heads]")
    checks = [check("S17", id=id, stage=None, points=25, earned=25) for id in ids]
    graded = result("ann").model_copy(update={"checks": checks, "stages": {}})
    names = [one["name"] for one in in_gradescope(graded)["tests"]]
    assert names == ["component[head]", "component[mlp]", "exercise[fuse_heads]"]


def test_a_submission_that_was_not_graded_has_a_reason_with_its_zero() -> None:
    document = in_gradescope(not_loaded())
    assert (document["score"], document["tests"]) == (0, [])
    assert "was never closed" in document["output"]


def test_what_is_hidden_is_told_by_nothing_that_is_shown() -> None:
    """The stage has a visible check that fails, too: the mistake stands with the hidden one."""
    graded = scaled_by_embed_dim()
    hidden = check("S12", outcome=Outcome.FAILED, earned=0, message="too small", visibility=Visibility.HIDDEN)
    shown = hidden.model_copy(
        update={"id": "shape[S12]", "message": "not 1 × 12", "visibility": Visibility.VISIBLE}
    )
    others = [one for one in graded.checks if one.stage != "S12"]
    document = in_gradescope(graded.model_copy(update={"checks": [*others, hidden, shown]}))
    tests = {one["visibility"]: one for one in document["tests"] if one["name"].startswith("S12")}
    assert set(tests) == {"visible", "hidden"}
    assert "full width" in tests["hidden"]["output"]
    assert tests["visible"]["output"].endswith("not 1 × 12</p>")
    seen = document["output"] + "".join(
        one["name"] + one["output"] for one in document["tests"] if one["visibility"] == "visible"
    )
    assert not any(secret in seen for secret in ("full width", "too small", "vit_transformer.py:58"))


def test_every_format_takes_what_is_hostile() -> None:
    for to in FORMATS:
        text = rendered(hostile(), to)
        assert not set(text) & set(HOSTILE) & {"\x1b", "\x00", "\x07", "\u202e", "\u200b"}, to
