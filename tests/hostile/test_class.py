"""No submission ends the run of a class, and none hides another: the neighbours are graded."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from corpus import BASES

from vitcheck.__main__ import main
from vitcheck.submissions.errors import NotLoaded
from vitcheck.submissions.host import popular
from vitcheck.submissions.host.popular import popular_packages
from vitcheck.submissions.reading import packing
from vitcheck.submissions.reading.files import beginning
from vitcheck.submissions.reading.source import find_submissions, read_source
from vitcheck.submissions.reading.submission_names import submission_names

_RIGHT = BASES["report"].source()


def _empty(folder: Path) -> None:
    """One submission that is nothing, so that its neighbours take no time."""
    folder.mkdir()
    (folder / "vit.py").write_text(" ")


def _graded(folder: Path, out: Path) -> dict[str, str]:
    """The points of each submission, by the command."""
    command = [
        sys.executable,
        "-m",
        "vitcheck",
        "grade",
        str(folder),
        "--out",
        str(out),
        "--isolation",
        "none",
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    with (out / "grades.csv").open(encoding="utf-8", newline="") as rows:
        _, *students = csv.DictReader(rows)
        return {row["submission"]: row["score"] for row in students}


def test_whatever_lies_in_the_folder_of_a_class_the_neighbour_is_graded(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "honest.py").write_text(_RIGHT)
    (folder / "hex.py").write_text("# coding: hex\n" + _RIGHT)
    (folder / ".hidden.py").write_text(_RIGHT)
    for link, target in (("zero.py", "/dev/zero"), ("again.py", "again.py"), ("thief.py", "honest.py")):
        (folder / link).symlink_to(target)
    os.mkfifo(folder / "pipe.py")
    os.mkfifo(folder / "pipe.zip")
    for name in (b"\xff" * 64, b"A" * 255, b"a" * 255, b"line\nend", "\u00e9".encode(), "e\u0301".encode()):
        _empty(folder / os.fsdecode(name))
    grades = _graded(folder, tmp_path / "out")
    assert {name for name, earned in grades.items() if float(earned) == 100} == {"honest", "hex"}
    assert len(grades) == 2 + 3 + 2 + 6
    assert {"zero", "again", "thief", "pipe.py", "pipe.zip", r"line\x0aend"} < set(grades)


def test_no_two_names_are_the_same_to_any_file_system_and_none_is_too_long(tmp_path: Path) -> None:
    for name in (b"\xff" * 64, b"A" * 255, b"a" * 255, b"n" * 252 + b".py", b"dot.", b"dot", b"Dot"):
        _empty(tmp_path / os.fsdecode(name))
    names = submission_names(find_submissions([tmp_path]))
    assert len({name.casefold().rstrip(".") for name in names}) == len(names) == 7
    assert max(len(name.encode()) for name in names) < 200


def test_a_file_is_read_up_to_what_is_asked_for_whatever_size_it_tells() -> None:
    told = Path("/proc/self/status")  # which tells 0
    assert (told.stat().st_size, len(beginning(told, 100))) == (0, 100)


def test_what_may_not_be_read_is_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, flags: int) -> int:
        if path.name in ("mine.csv", "alone.py"):
            raise PermissionError(13, "Permission denied")
        return opened(path, flags)

    opened = os.open
    monkeypatch.setattr(os, "open", refuse)
    (tmp_path / "vit.py").write_text("x = 1")
    (tmp_path / "mine.csv").write_text("1")
    (tmp_path / "alone.py").write_text("x = 1")
    source = read_source(tmp_path)
    assert set(source.files) == {"vit.py"}
    assert "mine.csv cannot be read: Permission denied" in source.left
    with pytest.raises(NotLoaded, match=r"alone\.py cannot be read: Permission denied"):
        read_source(tmp_path / "alone.py")


def test_what_nobody_foresaw_is_lost_for_one_submission_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take(path: Path) -> object:
        raise ZeroDivisionError("nobody foresaw it")

    monkeypatch.setattr(packing, "take", take)
    handed = packing.pack_of_class(tmp_path / "ann.py")
    assert len(handed.digest) == 64
    with pytest.raises(RuntimeError, match="nobody foresaw it"), handed.unpacked():
        pass


def test_what_is_imported_is_asked_of_a_process_that_a_clock_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("import einops")
    assert popular_packages([tmp_path / "a.py"]) == ("einops",)
    monkeypatch.setattr(popular, "command", lambda *_: [sys.executable, "-c", "import time; time.sleep(600)"])
    monkeypatch.setattr(popular, "_SECONDS", 0.5)
    assert popular_packages([tmp_path / "a.py"]) == ()


def test_whatever_goes_wrong_beside_submissions_has_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise ZeroDivisionError

    monkeypatch.setattr("vitcheck.submissions.host.popular.popular_packages", fail)
    (tmp_path / "a.py").write_text("x = 1")
    run = CliRunner().invoke(
        main, ["grade", str(tmp_path), "--out", str(tmp_path / "out"), "--isolation", "none"]
    )
    assert run.exit_code == 3
