"""``vitcheck gradebook``: what was graded and decided, in lines, and in files for other programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Run
from gradebooks import result, work
from sqlalchemy import select

from vitcheck.__main__ import main
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.gradebook.tables import Attempt
from vitcheck.checks.classes.gradebook.work import Work
from vitcheck.reports.writer import write_class, write_for_student, write_submission

Command = Callable[..., Run]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """A gradebook with three submissions of which one could not be graded."""
    file = str(tmp_path / "gradebook.sqlite")
    with open_gradebook(file, create=True) as book:
        run = book.begin(work(), 7)
        for name, earned in (("ann", 80.0), ("bob", 87.25)):
            book.record(run, name, result(name, earned))
        not_loaded = {"status": "not_loaded", "score": {"earned": 0, "possible": 100}}
        book.record(run, "cleo", result("cleo").model_validate(result("cleo").model_dump() | not_loaded))
    return lambda *words: CliRunner().invoke(main, ["gradebook", *words, "--gradebook", file])


def test_each_submission_is_listed_with_the_points_that_count(command: Command) -> None:
    command("adjust", "bob", "--points", "+3", "--comment", "a typo on the sheet", "--late-days", "2")
    assert command("list").output.splitlines() == [
        "    80 of 100  ann",
        " 90.25 of 100  bob  adjusted by +3, 2 late days: a typo on the sheet",
        "     0 of 100  cleo  not loaded",
    ]


@pytest.mark.parametrize(
    ("points", "line"),
    [
        ("+3", "    83 of 100  ann  adjusted by +3"),
        ("-3.5", "  76.5 of 100  ann  adjusted by -3.5"),
        ("85", "    85 of 100  ann  set to 85"),
        ("0", "     0 of 100  ann  set to 0"),
        ("+0", "    80 of 100  ann"),
    ],
)
def test_points_are_added_taken_away_or_set(command: Command, points: str, line: str) -> None:
    command("adjust", "ann", "--points", "50")
    assert command("adjust", "ann", "--points", points).output == f"{line}\n"


def test_what_is_not_given_stays(command: Command) -> None:
    command("adjust", "ann", "--points", "+3", "--comment", "a typo")
    line = command("adjust", "ann", "--extra-time", "12").output
    assert line == "    83 of 100  ann  adjusted by +3, 12 h of extra time: a typo\n"


def test_history_shows_what_was_graded_and_decided_with_times(command: Command) -> None:
    command("adjust", "ann", "--points", "+3")
    command("adjust", "ann", "--points", "+0")
    graded, adjusted, withdrawn = command("history", "ann").output.splitlines()
    assert graded.endswith("  80 of 100  (seed 7, vitcheck 1.0)")
    assert "  adjusted by +3, said " in adjusted
    assert "  nothing adjusted, said " in withdrawn
    assert graded[:25] <= adjusted[:25] <= withdrawn[:25]


def test_what_is_exported_is_the_same_in_both_forms_and_no_formula(command: Command, tmp_path: Path) -> None:
    command("adjust", "ann", "--points", "-1.5", "--comment", "=cmd()")
    run = command("export", "--csv", str(tmp_path / "g.csv"), "--json", str(tmp_path / "g.json"))
    assert (run.exit_code, run.output) == (0, "")
    ann, *_ = json.loads((tmp_path / "g.json").read_text())
    row, *rest = csv.DictReader((tmp_path / "g.csv").read_text().splitlines())
    assert len(rest) == 2
    assert list(row) == list(ann)
    assert (ann["submission"], ann["earned"], ann["score"], ann["comment"]) == ("ann", 80, 78.5, "=cmd()")
    assert (row["submission"], row["earned"], row["score"], row["comment"]) == (
        "ann",
        "80",
        "78.5",
        "'=cmd()",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["history", "anna"], "there is no submission anna; did you mean ann?"),
        (
            ["adjust", "ann"],
            "nothing to change: give NAME and --points, --comment, --extra-time or --late-days",
        ),
        (["adjust", "ann", "--points", "many"], "'many' is not a valid float"),
        (["adjust", "ann", "--points", "nan"], "nan is not a number of points"),
        (["export"], "nowhere to write to: give --csv FILE, --json FILE or both"),
        (["list", "--assignment", "vit"], "has no submission of vit"),
    ],
)
def test_usage_errors_say_what_to_do(command: Command, words: list[str], message: str) -> None:
    run = command(*words)
    assert run.exit_code == 2
    assert message in " ".join(run.output.split())


def test_a_name_in_two_assignments_needs_the_assignment(command: Command, tmp_path: Path) -> None:
    with open_gradebook(str(tmp_path / "gradebook.sqlite")) as book:
        other = Work("vit-rollout", "r", "r", {"ann": "a1"}, "1.0", "auto")
        book.record(book.begin(other, 7), "a1", result("ann", 10.0))
    assert (
        "ann is in several assignments (vit-debugging, vit-rollout)"
        in command("adjust", "ann", "--points", "1").output
    )
    assert command("adjust", "ann", "--points", "1", "--assignment", "vit-rollout").exit_code == 0
    assert "vit-rollout  " in command("list").output


def test_who_is_removed_is_in_no_output(command: Command, tmp_path: Path) -> None:
    rows = [result("ann"), result("bob"), result("cleo")]
    write_class(rows, tmp_path)
    for one in rows:
        write_submission(one, tmp_path / one.submission)
        write_for_student(one, tmp_path / "released" / one.submission)
    command("adjust", "bob", "--comment", "said of Robert")
    released = str(tmp_path / "released")
    assert command("remove", "bob", "--folder", released).exit_code == 1, "nobody said yes"
    assert command("remove", "bob", "--yes", "--folder", released).output.endswith("1 deleted\n")
    assert [line.split()[3] for line in command("list").output.splitlines()] == ["ann", "cleo"]
    for file in (one for one in tmp_path.rglob("*") if one.is_file()):
        assert b"bob" not in file.read_bytes(), file
        assert b"Robert" not in file.read_bytes(), file
    assert {one.name for one in tmp_path.iterdir() if one.is_dir()} == {"ann", "cleo", "released"}


def test_what_is_old_is_purged(command: Command, tmp_path: Path) -> None:
    with open_gradebook(str(tmp_path / "gradebook.sqlite")) as book, book._session(book._writing) as session:
        for attempt in session.scalars(select(Attempt).where(Attempt.submission != "ann")):
            attempt.at = datetime(2020, 1, 1, tzinfo=timezone.utc)
    command("adjust", "cleo", "--points", "+1")  # something that happened lately
    assert command("purge", "--older-than", "30", "--yes").output == "vit-debugging  bob\n1 deleted\n"
    assert command("purge", "--older-than", "30", "--yes").output == "nothing to delete\n"


def test_nothing_is_made_where_there_is_no_gradebook(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["gradebook", "list", "--gradebook", str(tmp_path / "none")])
    assert run.exit_code == 2
    assert "there is no gradebook" in run.output
    assert not (tmp_path / "none").exists()


def test_what_was_decided_about_another_version_says_so_until_it_is_confirmed(
    command: Command, tmp_path: Path
) -> None:
    command("adjust", "ann", "--points", "+3")
    with open_gradebook(str(tmp_path / "gradebook.sqlite")) as book:
        again = work({"ann": "a2", "bob": "b1", "cleo": "c1"})
        book.record(book.begin(again, 8), "a2", result("ann", 70.0))
    line = "    73 of 100  ann  adjusted by +3"
    first, *_ = command("list").output.splitlines()
    assert first == f"{line} (of another version of the file: confirm or adjust it)"
    assert command("confirm", "ann").output == f"{line}\n"
    assert command("list").output.splitlines()[0] == line
