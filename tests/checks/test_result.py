"""The result record is read again, whoever wrote it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import scaled_by_embed_dim

from vitcheck.checks.record.document import SCHEMA
from vitcheck.checks.record.result import CheckResult, MistakeResult, Outcome, Result, StageStatus
from vitcheck.reports.pages.html import render_report

OLD = Path(__file__).with_name("old_results")


def test_there_is_a_record_of_every_schema_so_far() -> None:
    assert {one.stem for one in OLD.iterdir()} == {f"schema-{number}" for number in range(1, SCHEMA + 1)}


@pytest.mark.parametrize("file", sorted(OLD.iterdir()), ids=lambda one: one.stem)
def test_a_record_of_an_older_version_is_read_and_shown(file: Path) -> None:
    result = Result.from_json(file.read_bytes())
    assert (result.submission, result.score.earned) == ("scale_by_width", 97.9)
    assert result.stages["S12"].status is StageStatus.FAILED
    assert "Scores divided by the square root of the full width" in render_report(result)


def test_a_record_of_a_later_schema_says_which_version_to_install() -> None:
    later = {**json.loads(scaled_by_embed_dim().to_json()), "schema": SCHEMA + 1, "what_comes": "later"}
    with pytest.raises(ValueError, match=rf"schema {SCHEMA + 1}, which a later vitcheck wrote"):
        Result.from_json(json.dumps(later))


def test_what_is_no_record_is_an_error() -> None:
    with pytest.raises(ValueError, match="submission"):
        Result.from_json('{"schema": 1}')


def test_no_text_of_a_record_drives_a_terminal_or_runs_backwards() -> None:
    texts = "a\x1b[2J\r\x07 \u202eevil\u2066 \x9b31m\ud800 \U000e0041"
    check = CheckResult(
        id="own.x",
        stage=None,
        title=texts,
        outcome=Outcome.FAILED,
        points=1,
        earned=0,
        message=f"first\r\nsecond {texts}",
        counterexample={"command": texts, "seed": 7},
    )
    assert check.message.startswith("first\nsecond a\\x1b[2J\\x0d\\x07 \\u202eevil\\u2066 ")
    assert check.counterexample is not None
    mistake = MistakeResult(id="x", stage="S01", kind="error", title="", hint="", also=[texts])
    shown = (check.title, check.message.replace("\n", ""), check.counterexample["command"], *mistake.also)
    assert all(text.isprintable() for text in shown)
