from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
from records import SNAPSHOTS, record, snapshot
from samples import a_class, scaled_by_embed_dim

from vitcheck.checks.record.result import Result
from vitcheck.reports.pages.html import render_index, render_report
from vitcheck.reports.schema import result_schema, snapshot_schema
from vitcheck.reports.views.summaries import summaries
from vitcheck.reports.writer import write_class, write_submission, write_whole

PUBLISHED = Path(__file__).parents[2] / "docs" / "result.schema.json"


def test_what_is_written(tmp_path: Path) -> None:
    result = scaled_by_embed_dim()
    write_submission(result, tmp_path / "out" / result.submission)
    write_class([result], tmp_path / "out")
    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*") if one.is_file()) == [
        "out/brown-li/report.html",
        "out/brown-li/result.json",
        "out/grades.csv",
        "out/grades.json",
        "out/index.html",
    ]


def test_arrays_stand_beside_the_record_and_those_of_another_run_go(tmp_path: Path) -> None:
    result = record("two_mistakes")
    write_submission(result, tmp_path)
    arrays = (tmp_path / "arrays.safetensors").read_bytes()
    read = Result.from_json((tmp_path / "result.json").read_bytes()).model_copy(update={"arrays": arrays})
    assert read == result
    assert render_report(read) == (tmp_path / "report.html").read_text("utf-8")
    write_submission(result.model_copy(update={"arrays": None}), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "result.json"]


def test_every_output_can_be_made_again_from_the_record(tmp_path: Path) -> None:
    for number, result in enumerate(a_class()):
        folder = tmp_path / str(number)
        write_submission(result, folder)
        read = Result.from_json((folder / "result.json").read_bytes())
        assert render_report(read) == (folder / "report.html").read_text("utf-8")


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_class(a_class(), tmp_path / name)
        write_submission(scaled_by_embed_dim(), tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_the_order_of_results_does_not_change_the_index() -> None:
    assert render_index(summaries(a_class())) == render_index(summaries(a_class()[::-1]))


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_class(a_class(), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(source: Path, target: Path) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space left"):
        write_class([], tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_pipes_and_links_stay_what_they_are(tmp_path: Path) -> None:
    """Such as /dev/stdout: a file in its place would break every other program."""
    pipe, link, file = (tmp_path / name for name in ("pipe", "link", "file"))
    os.mkfifo(pipe)
    link.symlink_to(file)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (pipe, link):
        write_whole(path, b"whole")
    assert os.read(reader, 10) == file.read_bytes() == b"whole"
    assert pipe.is_fifo()
    assert link.is_symlink()
    os.close(reader)


def test_the_published_schema_is_up_to_date() -> None:
    advice = "write what vitcheck.reports.schema.result_schema() gives into docs/result.schema.json"
    assert PUBLISHED.read_text("utf-8") == result_schema(), advice


def test_the_published_schema_of_snapshots_is_up_to_date_and_they_fit_it() -> None:
    published = PUBLISHED.with_name("snapshot.schema.json").read_text("utf-8")
    advice = "write what vitcheck.reports.schema.snapshot_schema() gives into docs/snapshot.schema.json"
    assert published == snapshot_schema(), advice
    for name in SNAPSHOTS:
        jsonschema.validate(json.loads(snapshot(name).to_json()), json.loads(published))


@pytest.mark.parametrize("result", a_class(), ids=lambda result: str(result.status.value))
def test_records_fit_the_published_schema(result: Result) -> None:
    jsonschema.validate(json.loads(result.to_json()), json.loads(PUBLISHED.read_text("utf-8")))


def test_the_schema_refuses_what_is_no_record() -> None:
    record = json.loads(scaled_by_embed_dim().to_json()) | {"status": "fine"}
    with pytest.raises(jsonschema.ValidationError, match="fine"):
        jsonschema.validate(record, json.loads(PUBLISHED.read_text("utf-8")))
