"""The result record is read again, whoever wrote it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import scaled_by_embed_dim

from vitcheck.checks.result import SCHEMA, Result, StageStatus
from vitcheck.reports import render_report

OLD = Path(__file__).with_name("old_results")


def test_there_is_a_record_of_every_schema_so_far() -> None:
    assert {one.stem for one in OLD.iterdir()} == {f"schema-{number}" for number in range(1, SCHEMA + 1)}


@pytest.mark.parametrize("file", sorted(OLD.iterdir()), ids=lambda one: one.stem)
def test_a_record_of_an_older_version_is_read_and_shown(file: Path) -> None:
    result = Result.from_json(file.read_bytes())
    assert (result.submission, result.score.earned) == ("scale_by_width", 97.9)
    assert result.stages["S12"].status is StageStatus.FAILED
    assert "Scores divided by the square root of the full width." in render_report(result)


def test_a_record_of_a_later_schema_says_which_version_to_install() -> None:
    later = {**json.loads(scaled_by_embed_dim().to_json()), "schema": SCHEMA + 1, "what_comes": "later"}
    with pytest.raises(ValueError, match=rf"schema {SCHEMA + 1}, which a later vitcheck wrote"):
        Result.from_json(json.dumps(later))


def test_what_is_no_record_is_an_error() -> None:
    with pytest.raises(ValueError, match="submission"):
        Result.from_json('{"schema": 1}')
