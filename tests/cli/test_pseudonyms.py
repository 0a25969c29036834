"""Marking without names: pseudonyms wherever a marker looks, and names where grades go back."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Run
from quick_tasks import NoChildren, Quick

from vitcheck.__main__ import main
from vitcheck.submissions.reading.packing import HandIn


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class of two, graded under pseudonyms by a grader that says what it is told to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("vitcheck.checks.classes.many.Task", Quick)
    monkeypatch.setattr("vitcheck.checks.classes.tasks.Setting", NoChildren)
    Path("class/Böb & Co").mkdir(parents=True)
    Path("class/Böb & Co/vit.py").write_text("said by the second")
    Path("class/annabel.py").write_text("said by the first")
    run = grade()
    assert run.exit_code == 0, run.output
    return tmp_path


def grade() -> Run:
    options = ["--pseudonyms", "names.csv", "--jobs", "1", "--isolation", "none"]
    return CliRunner().invoke(main, ["grade", "class", *options])


def names() -> dict[str, str]:
    return {
        row["submission"]: row["pseudonym"]
        for row in csv.DictReader(Path("names.csv").read_text().splitlines())
    }


def test_no_name_is_in_what_a_marker_gets(course: Path) -> None:
    assert set(names()) == {"annabel", "Böb & Co"}
    found = list((course / "grades").rglob("*"))
    assert {one.name for one in found if one.is_dir()} == set(names().values())
    for file in (one for one in found if one.is_file()):
        content = file.read_bytes()
        assert b"annabel" not in content, file
        assert "Böb".encode() not in content, file
    listed = CliRunner().invoke(main, ["gradebook", "list"]).output
    assert sorted(line.split()[3] for line in listed.splitlines()) == sorted(names().values())


def test_pseudonyms_stay_when_it_is_graded_again(course: Path) -> None:
    before = names()
    (course / "class" / "cleo.py").write_text("said by the third")
    grade()
    assert names().items() >= before.items()
    assert len(names()) == 3


def test_names_are_back_where_grades_are_exported_and_handed_back(course: Path) -> None:
    table = ["--pseudonyms", "names.csv"]
    CliRunner().invoke(main, ["gradebook", "export", "--json", "all.json", *table])
    assert {one["submission"] for one in json.loads(Path("all.json").read_text())} == set(names())
    text = CliRunner().invoke(main, ["export", "grades", "--to", "sakai", *table]).output
    assert {row["Student ID"] for row in csv.DictReader(text.splitlines())} == set(names())
    run = CliRunner().invoke(main, ["release", "grades", "--out", "back", *table])
    assert run.exit_code == 0, run.output
    assert {one.name for one in Path("back").iterdir()} == set(names())
    for file in (one for one in Path("back").rglob("*") if one.is_file()):
        assert b"student-" not in file.read_bytes()


def test_a_file_that_is_no_such_table_is_told(course: Path) -> None:
    Path("roster.csv").write_text("a,b\n1,2\n")
    run = CliRunner().invoke(main, ["export", "grades", "--to", "sakai", "--pseudonyms", "roster.csv"])
    assert (run.exit_code, "is no table of pseudonyms" in run.output) == (2, True)


@pytest.mark.parametrize(
    ("handed", "name", "files"),
    [
        (HandIn("ann.py", False, {"ann.py": b"x"}), "s1.py", {"s1.py": b"x"}),
        (HandIn("ann.tar.gz", False, {"ann.tar.gz": b"x"}), "s1.tar.gz", {"s1.tar.gz": b"x"}),
        (HandIn("ann.v2.ipynb", False, {"ann.v2.ipynb": b"x"}), "s1.ipynb", {"s1.ipynb": b"x"}),
        (HandIn("ann", True, {"vit.py": b"x"}), "s1", {"vit.py": b"x"}),
    ],
)
def test_a_file_is_called_as_its_submission_and_keeps_its_kind(
    handed: HandIn, name: str, files: dict[str, bytes]
) -> None:
    other = handed.called("s1")
    assert (other.name, other.files) == (name, files)
