"""A disputed grade in one file, which holds all that it takes to grade again."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from gradebooks import result

from vitcheck.checks.assignment.assignment import assignment_text
from vitcheck.checks.classes.tasks import Setting
from vitcheck.checks.record.result import CheckResult, Outcome, Result
from vitcheck.checks.tools.dispute import Dispute, DisputeError, differences, read_dispute, write_dispute
from vitcheck.submissions.errors import Refused
from vitcheck.submissions.reading.packing import HandIn

HANDED = HandIn("ann", True, {"vit.py": b"x = 1\n", "parts/größe.py": b"y = 2\n"}, left=("a link",))
OWN = HandIn("own", True, {"test_own.py": b"def test_it(): pass\n"})


def check(outcome: Outcome) -> CheckResult:
    return CheckResult(id="equation[S12]", stage="S12", title="x", outcome=outcome, points=3, earned=0)


def dispute(graded: Result, checks: HandIn | None = OWN) -> Dispute:
    return Dispute(HANDED, assignment_text("vit-prenorm"), "week-3.toml", checks, graded)


@pytest.mark.parametrize("checks", [None, OWN])
def test_what_is_read_is_what_was_written(tmp_path: Path, checks: HandIn | None) -> None:
    written = dispute(result("ann"), checks)
    write_dispute(written, tmp_path / "d.zip")
    found = read_dispute(tmp_path / "d.zip")
    assert found == written
    task = found.task(Setting())
    assert (task.name, task.seed, task.handed.digest) == ("ann", 7, HANDED.digest)
    assert (task.assignment.name, task.assignment.known_as) == ("vit-prenorm", "week-3.toml")


def test_it_says_what_came_out_otherwise() -> None:
    before, after = result("ann", 80), result("ann", 83)
    before = before.model_copy(update={"checks": [check(Outcome.FAILED)]})
    after = after.model_copy(update={"checks": [check(Outcome.SKIPPED)]})
    assert differences(before, before) == []
    assert differences(before, after) == [
        "points: 80.0 there, 83.0 here",
        "equation[S12]: failed (0) there, skipped (0) here",
    ]


def test_what_is_no_dispute_is_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as archive:
        archive.writestr("vit.py", "")
    with pytest.raises(DisputeError, match=r"d\.zip is no file of `vitcheck dispute`"):
        read_dispute(tmp_path / "d.zip")


def test_what_could_not_be_read_cannot_be_replayed(tmp_path: Path) -> None:
    refused = HandIn("ann", False, {}, Refused("it is a link"))
    with pytest.raises(DisputeError, match="nothing to replay: it is a link"):
        write_dispute(Dispute(refused, "", "a.toml", None, result("ann")), tmp_path / "d.zip")
