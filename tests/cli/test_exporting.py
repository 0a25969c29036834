"""``vitcheck export``: what is given to other systems, and what is said where it cannot be."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Run
from gradebooks import result, work
from samples import scaled_by_embed_dim

from vitcheck.__main__ import main
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.commands.export import OF_A_CLASS, OF_ONE
from vitcheck.reports.formats import FORMATS
from vitcheck.reports.formats.lms import SYSTEMS

Export = Callable[..., Run]


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Export:
    """Run the command in a folder with ``hw3/vit_transformer.py``, its result, and a class of two."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hw3").mkdir()
    (tmp_path / "hw3" / "vit_transformer.py").write_text("")
    (tmp_path / "result.json").write_text(scaled_by_embed_dim().to_json())
    with open_gradebook("gradebook.sqlite", create=True) as book:
        run = book.begin(work(), 7)
        book.record(run, "a", result("ann", 80.0))
        book.record(run, "b", result("bob", 87.25))
        book.adjust("vit-debugging", "bob", "me", delta=3.0, comment="a typo")
    return lambda *words: CliRunner().invoke(main, ["export", *words])


def test_the_command_offers_every_format() -> None:
    assert tuple(FORMATS) == OF_ONE
    assert tuple(SYSTEMS) == OF_A_CLASS


@pytest.mark.parametrize("system", OF_ONE)
def test_each_format_of_one_result_is_written(export: Export, system: str) -> None:
    run = export("result.json", "--to", system, "--out", "out")
    assert (run.exit_code, run.output) == (0, "")
    assert Path("out").read_text().strip()


@pytest.mark.parametrize("graded", ["hw3", "hw3/vit_transformer.py"])
def test_files_are_named_as_in_the_repository(export: Export, graded: str) -> None:
    text = export("result.json", "--to", "gitlab-code-quality", "--graded", graded).output
    assert json.loads(text)[0]["location"]["path"] == "hw3/vit_transformer.py"


def test_folders_that_hold_everything_are_part_of_the_path(export: Export) -> None:
    Path("all/inner").mkdir(parents=True)
    Path("hw3").rename("all/inner/hw3")
    text = export("result.json", "--to", "gitlab-code-quality", "--graded", "all").output
    assert json.loads(text)[0]["location"]["path"] == "all/inner/hw3/vit_transformer.py"


def test_the_points_that_count_are_exported(export: Export) -> None:
    rows = list(csv.DictReader(export(".", "--to", "sakai").output.splitlines()))
    assert {row["Student ID"]: row["vit-debugging [100]"] for row in rows} == {"ann": "80", "bob": "90.25"}


def test_who_is_not_in_the_roster_is_told(export: Export) -> None:
    Path("roster.csv").write_text("Student ID,Student Name,Homework [100]\nbob,Bob,\n")
    run = export(".", "--to", "sakai", "--roster", "roster.csv", "--column", "Homework")
    assert run.stderr == "left out: ann: not in the roster\n"
    assert run.stdout.splitlines() == ["Student ID,Student Name,Homework [100]", "bob,Bob,90.25"]


def test_a_roster_that_does_not_fit_is_a_usage_error(export: Export) -> None:
    Path("roster.csv").write_text("a,b\n1,2\n")
    run = export(".", "--to", "canvas", "--roster", "roster.csv")
    assert run.exit_code == 2
    assert "none of the columns ID" in run.output


def test_a_class_where_one_result_is_wanted_and_the_reverse(export: Export) -> None:
    run = export(".", "--to", "junit")
    assert (run.exit_code, "name a result.json" in run.output) == (2, True)
    run = export("result.json", "--to", "canvas")
    assert (run.exit_code, "gradebook" in run.output) == (2, True)


def test_what_is_no_result_is_a_usage_error(export: Export) -> None:
    Path("other.json").write_text("{}")
    run = export("other.json", "--to", "junit")
    assert (run.exit_code, "is not a result.json" in run.output) == (2, True)


def test_a_gradebook_of_several_assignments_wants_one_named(export: Export) -> None:
    with open_gradebook("gradebook.sqlite") as book:
        run = book.begin(replace(work(digest="other"), assignment="vit-basics"), 7)
        book.record(run, "a", result("ann", 1.0))
    refused = export(".", "--to", "sakai")
    assert refused.exit_code == 2
    assert "--assignment vit-basics or vit-debugging" in refused.output
    assert export(".", "--to", "sakai", "--assignment", "vit-basics").exit_code == 0
