"""``vitcheck check --watch``, with files that are really saved."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import pytest
from click.testing import CliRunner
from watchfiles import watch as real_watch

from vitcheck import saves as saves_module
from vitcheck.__main__ import main
from vitcheck.saves import saves
from vitcheck.submissions.reading.packing import HandIn

EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
SECONDS = 60.0  # what is waited for comes within two on an idle machine
REFRESH = '<meta http-equiv="refresh" content="1">'


class Saves:
    """What ``saves`` yields, in a thread."""

    def __init__(self, path: Path) -> None:
        self._found: Queue[HandIn | None] = Queue()
        threading.Thread(target=self._follow, args=[path], daemon=True).start()

    def _follow(self, path: Path) -> None:
        for one in saves(path):
            self._found.put(one)

    def next(self) -> dict[str, bytes] | None:
        """The files, once there is another version of them."""
        found = self._found.get(timeout=SECONDS)
        return None if found is None else dict(found.files)

    def are_over(self) -> bool:
        time.sleep(2.5 * saves_module._REPLACED_MS / 1000)
        return self._found.empty()


def test_a_file_is_seen_however_it_is_saved(tmp_path: Path) -> None:
    file = tmp_path / "vit.py"
    file.write_text("1")
    found = Saves(file)
    assert found.next() == {"vit.py": b"1"}
    file.write_text("2")
    assert found.next() == {"vit.py": b"2"}
    (tmp_path / "vit.py~").write_text("3")
    os.replace(tmp_path / "vit.py~", file)  # as many editors do
    assert found.next() == {"vit.py": b"3"}
    file.unlink()
    assert found.next() is None
    file.write_text("4")
    assert found.next() == {"vit.py": b"4"}


def test_a_file_that_is_being_written_is_no_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saves_module, "_SETTLED_SECONDS", 1.5)
    file = tmp_path / "vit.py"
    file.write_text("1")
    found = Saves(file)
    assert found.next()
    with file.open("w") as written:  # which empties it
        time.sleep(0.3)
        written.write("2")
    assert found.next() == {"vit.py": b"2"}


def test_what_changes_nothing_is_no_save(tmp_path: Path) -> None:
    file = tmp_path / "vit.py"
    file.write_text("1")
    found = Saves(file)
    assert found.next()
    file.touch()
    (tmp_path / "other.py").write_text("2")
    assert found.are_over()


def test_a_folder_is_seen_with_all_below_it_and_when_another_takes_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "vit.py").write_text("1")
    found = Saves(folder)
    assert found.next() == {"parts/vit.py": b"1"}
    (folder / "parts" / "vit.py").write_text("2")
    assert found.next() == {"parts/vit.py": b"2"}
    shutil.rmtree(folder)
    while (left := found.next()) is not None:
        assert left == {}  # on its way out
    folder.mkdir()
    (folder / "new.py").write_text("3")
    while (files := found.next()) != {"new.py": b"3"}:
        assert files == {}  # just made


def test_a_save_before_the_folder_is_watched_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "vit.py"
    file.write_text("1")

    def late(*args: object, **options: object) -> Iterator[object]:
        file.write_text("2")
        return real_watch(*args, **options)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(saves_module, "watch", late)
    found = Saves(file)
    assert found.next() == {"vit.py": b"1"}
    assert found.next() == {"vit.py": b"2"}


class Command:
    """The command as it runs in a terminal."""

    def __init__(self, file: Path, *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "vitcheck", "check", file, "--watch", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )

    def until(self, line: str) -> str:
        """What it prints up to a line that begins so."""
        assert self._process.stdout
        text = ""
        for printed in self._process.stdout:
            text += printed
            if printed.startswith(line):
                return text
        raise AssertionError(f"it ended: {text}")

    def interrupt(self) -> int:
        """Ctrl-C."""
        self._process.send_signal(signal.SIGINT)
        assert self._process.stdout
        self._process.stdout.read()
        return self._process.wait(SECONDS)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def running(file: Path, *options: str) -> Iterator[Command]:
    command = Command(file, *options)
    try:
        yield command
    finally:
        command.kill()


def test_each_save_is_graded_and_the_report_follows_until_ctrl_c(tmp_path: Path) -> None:
    file, report = tmp_path / "vit.py", tmp_path / "report.html"
    shutil.copy(EXAMPLES / "syntax_error.py", file)
    with running(file, "--html", str(report), "--json", str(tmp_path / "r.json")) as command:
        text = command.until("watching vit.py")
        assert "The code could not be loaded" in text
        assert "\x1b" not in text  # only a terminal is cleared
        assert REFRESH in report.read_text(encoding="utf-8")
        shutil.copy(EXAMPLES / "prenorm_conv.py", file)
        assert "Nothing wrong was found" in command.until("watching vit.py")
        assert REFRESH in report.read_text(encoding="utf-8")
        assert '"status": "graded"' in (tmp_path / "r.json").read_text()
        file.unlink()
        command.until("vit.py is gone")
        assert command.interrupt() == 0
    page = report.read_text(encoding="utf-8")
    assert "Nothing wrong was found" in page
    assert REFRESH not in page


def test_ctrl_c_while_it_grades_ends_it_too(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "endless_loop.py", tmp_path / "vit.py")
    with running(tmp_path / "vit.py") as command:
        command.until("grading vit.py")
        assert command.interrupt() == 0


def test_the_help_says_how_it_ends() -> None:
    text = " ".join(CliRunner().invoke(main, ["check", "--help"]).output.split())
    assert "--watch Check again at every save, until Ctrl-C, which exits with 0" in text
