"""``vitcheck late``: times from where work was handed in, shown, and taken only when that is said."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Run
from gradebooks import result
from sqlalchemy import select

from vitcheck.__main__ import main
from vitcheck.checks.assignment.assignment import assignment_text, parse_assignment
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.gradebook.tables import GradingRun
from vitcheck.checks.classes.gradebook.work import Work

POLICY = """
[late]
due = 2026-11-20T23:59:00+01:00
grace_minutes = 15
per_day = 10
budget_days = 1
"""
CANVAS = [
    {"user_id": 12, "submitted_at": "2026-11-20T23:05:00Z", "user": {"name": "Ann Smith"}},
    {"user_id": 13, "submitted_at": "2026-11-22T22:00:00Z"},
    {"user_id": 14, "submitted_at": None},
]
MOODLE = """Identifier,Full name,Email address,Last modified (submission)
Participant 12,Ann Smith,ann@x.org,"Saturday, 21 November 2026, 12:05 AM"
Participant 13,Bo Bo,bo@x.org,"Sunday, 22 November 2026, 11:00 PM"
Participant 14,Cleo C,cleo@x.org,-
"""
GRADESCOPE = """First Name,Last Name,SID,Email,Submission Time,Lateness (H:M:S)
Ann,Smith,annsmith_12,a@x.org,2026-11-21 00:05:00 +0100,00:06:00
Bo,Bo,bobo_13,b@x.org,2026-11-22 23:00:00 +0100,47:01:00
"""
PLAIN = "submission;submitted\nannsmith_12;2026-11-21T00:05:00+01:00\nbobo_13;2026-11-22T23:00\n"
NAMES = ("annsmith_12", "bobo_13", "cleoc_14")
Late = Callable[..., Run]


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Late:
    monkeypatch.chdir(tmp_path)
    Path("week.toml").write_text(assignment_text("vit-debugging") + POLICY)
    with open_gradebook("gradebook.sqlite", create=True) as opened:
        run = opened.begin(Work("vit-debugging", "d", "d", dict.fromkeys(NAMES, "x"), "1.0", "auto"), 7)
        for name in NAMES:
            opened.record(run, "x", result(name, 80.0))
    return lambda *words: CliRunner().invoke(main, ["late", ".", "--assignment", "week.toml", *words])


def book(*words: str) -> Run:
    return CliRunner().invoke(main, ["gradebook", *words, "--gradebook", "gradebook.sqlite"])


@pytest.mark.parametrize(
    "table", [json.dumps(CANVAS), MOODLE, GRADESCOPE, PLAIN], ids=["canvas", "moodle", "gradescope", "plain"]
)
def test_times_are_read_from_each_system_and_nothing_is_taken(late: Late, table: str) -> None:
    Path("times").write_text(table)
    run = late("--times", "times")
    assert run.exit_code == 0, run.output
    ann, bob = run.stdout.splitlines()
    assert ann == "annsmith_12: handed in 2026-11-21 00:05+01:00, in time"
    assert bob == (
        "bobo_13: handed in 2026-11-22 23:00+01:00, 1 d 23 h late; free late days used: 1; the policy takes"
        " 10 % of the points possible, 10 points, which are not taken here"
    )
    assert run.stderr == "cleoc_14: no time is known\n"
    listed = book("list").output
    assert listed.count("    80 of 100") == 3
    history = book("history", "bobo_13")
    assert "handed in 2026-11-22" in history.output
    assert "by times, said " in history.output


def test_points_are_taken_once_and_only_when_that_is_said(late: Late) -> None:
    Path("times").write_text(PLAIN)
    late("--times", "times")
    for _ in range(2):
        assert late("--apply").exit_code == 0
    listed = book("list").output
    assert listed.splitlines()[1] == (
        "    70 of 100  bobo_13  adjusted by -10, 1 late day: 1 d 23 h late: 10 % of the points possible"
    )
    assert listed.count("    80 of 100") == 2


def test_what_was_adjusted_otherwise_stays_and_is_named(late: Late) -> None:
    Path("times").write_text(PLAIN)
    book("adjust", "bobo_13", "--points", "+5")
    assert "bobo_13 is adjusted already, and stays so" in late("--times", "times", "--apply").stderr


def test_extra_time_comes_in_bulk_and_is_counted(late: Late) -> None:
    Path("times").write_text(PLAIN)
    Path("extra.csv").write_text("submission,extra_time,comment\nbobo_13,48,ill\nannsmith_12,,\n")
    run = CliRunner().invoke(
        main, ["gradebook", "adjust", "--csv", "extra.csv", "--gradebook", "gradebook.sqlite"]
    )
    assert run.output == "    80 of 100  bobo_13  48 h of extra time: ill\n"
    assert late("--times", "times").stdout.splitlines()[1].endswith("in time")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("submission,extra_time\nbobo_13,many\n", "row 2: extra_time is many, and no whole number"),
        ("submission,points\nbobo_13,+2\nzoe,+1\n", "there is no submission zoe"),
        ("name,points\nbobo_13,+2\n", "has no column submission, but name, points"),
    ],
)
def test_a_table_with_a_fault_changes_nothing(late: Late, table: str, message: str) -> None:
    Path("all.csv").write_text(table)
    run = CliRunner().invoke(
        main, ["gradebook", "adjust", "--csv", "all.csv", "--gradebook", "gradebook.sqlite"]
    )
    assert (run.exit_code, message in " ".join(run.output.split())) == (2, True), run.output
    listed = book("list").output
    assert listed.count("    80 of 100") == 3


def test_the_last_commit_of_a_repository_counts(late: Late) -> None:
    repository = Path("repositories/bobo_13")
    repository.mkdir(parents=True)
    when = {"GIT_COMMITTER_DATE": "2026-11-22T23:00:00+0100", "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z"}
    identity = ["-c", "user.name=b", "-c", "user.email=b@x.org"]
    for command in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *command], cwd=repository, check=True, env={**os.environ, **when})
    assert "bobo_13: handed in 2026-11-22 23:00+01:00, 1 d 23 h late" in late("--git", "repositories").stdout


def test_without_a_policy_or_times_it_says_what_is_missing(late: Late) -> None:
    Path("week.toml").write_text(assignment_text("vit-debugging"))
    assert "has no table [late], such as: due = " in " ".join(late().output.split())
    Path("week.toml").write_text(assignment_text("vit-debugging") + POLICY)
    Path("times").write_text("a,b\n1,2\n")
    assert "the table says no times" in late("--times", "times").output


def test_reports_say_it_until_it_is_taken(late: Late) -> None:
    Path("times").write_text(PLAIN)
    late("--times", "times")
    with open_gradebook("gradebook.sqlite") as opened, opened._session(opened._writing) as session:
        for run in session.scalars(select(GradingRun)):
            policy = parse_assignment(Path("week.toml").read_text(), "week.toml").late
            run.late = policy.model_dump_json() if policy else None

    def told() -> str:
        CliRunner().invoke(main, ["release", ".", "bobo_13", "--out", "back"])
        return Path("back/bobo_13/report.html").read_text()

    assert "Handed in 2026-11-22 23:00+01:00, 1 d 23 h late" in told()
    assert "10 points, which are not taken here" in told()
    late("--apply")
    assert "which are not taken here" not in told()
    assert "70 of 100 points" in told()
