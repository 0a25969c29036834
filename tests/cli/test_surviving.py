"""A run that is killed, interrupted, doubled or out of room: nothing is lost, and nothing is graded twice."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.gradebook.tables import Attempt

QUICK = [sys.executable, str(Path(__file__).parents[1] / "quick_grading.py")]
LINE = re.compile(r"^[✓✗!] .*? of 100  (\S+)", re.MULTILINE)


class Course:
    """A class of submissions that take no time, and the command that grades them."""

    def __init__(self, folder: Path, size: int, program: list[str]) -> None:
        self.submissions, self.out = folder / "in", folder / "out"
        self.book = str(self.out / "gradebook.sqlite")
        self.names = [f"student-{number}" for number in range(size)]
        self.submissions.mkdir(parents=True)
        for name in self.names:
            self.write(name, "quick")
        self._program = program

    def write(self, name: str, text: str) -> None:
        (self.submissions / f"{name}.py").write_text(text)

    def start(self, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *self._program,
                "grade",
                str(self.submissions),
                "--out",
                str(self.out),
                "--isolation",
                "none",
                *options,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )

    def grade(self, *options: str) -> tuple[int, str, str]:
        run = self.start(*options)
        output, errors = run.communicate(timeout=120)
        return run.returncode, output, errors

    def attempts(self) -> list[str]:
        """The names of all that was ever kept."""
        with open_gradebook(self.book) as book:
            return [
                event.submission
                for name in self.names
                for event in book.history("vit", name)
                if isinstance(event, Attempt)
            ]

    def assert_complete(self) -> None:
        """Each submission was kept once, and has its files."""
        assert sorted(self.attempts()) == sorted(self.names)
        table = (self.out / "grades.csv").read_text()
        for name in self.names:
            assert (self.out / name / "report.html").exists()
            assert (self.out / name / "result.json").exists()
            assert f"\n{name},crashed," in table


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return Course(tmp_path, 40, QUICK)


def lines(run: subprocess.Popen[str]) -> Iterator[str]:
    """The names in the lines that the run prints, as it prints them."""
    assert run.stdout is not None
    for line in run.stdout:
        if found := LINE.match(line):
            yield found[1]


def kill_after(run: subprocess.Popen[str], seconds: float) -> set[str]:
    """Kill it so long after its first result; which results it had said by then."""
    said = lines(run)
    first = next(said)
    time.sleep(seconds)
    run.kill()
    rest = set(said)
    run.communicate()
    return {first} | rest


def test_a_run_that_is_killed_five_times_is_continued_by_the_same_command(tmp_path: Path) -> None:
    course = Course(tmp_path, 120, QUICK)  # more than five of these lives are long enough for
    finished: set[str] = set()
    for _ in range(5):
        said = kill_after(course.start("--jobs", "2"), random.uniform(0, 0.05))
        assert not said & finished, "graded twice"
        finished |= said
    assert finished < set(course.names)
    code, output, _ = course.grade("--jobs", "2")
    assert code == 0
    assert not set(LINE.findall(output)) & finished
    assert re.search(r"^\d+ submissions unchanged and taken from the gradebook", output, re.MULTILINE)
    course.assert_complete()


@pytest.mark.timeout(300)
def test_real_submissions_survive_a_kill(tmp_path: Path) -> None:
    course = Course(tmp_path, 2, [sys.executable, "-m", "vitcheck"])
    examples = Path(__file__).parents[2] / "submissions" / "examples"
    shutil.copy(examples / "syntax_error.py", course.submissions)
    shutil.copy(examples / "script.py", course.submissions)
    course.names += ["syntax_error", "script"]
    said = kill_after(course.start("--jobs", "1"), 0)
    code, output, errors = course.grade("--jobs", "2")
    assert (code, errors) == (0, "")
    assert not set(LINE.findall(output)) & said
    assert sorted(course.attempts()) == sorted(course.names)


def test_two_runs_at_once_grade_a_class_once(course: Course) -> None:
    both = [course.start("--jobs", "1"), course.start("--jobs", "1")]
    for run in both:
        _, errors = run.communicate(timeout=120)
        assert (run.returncode, errors) == (0, "")
    course.assert_complete()


def test_two_classes_at_once_share_a_gradebook(tmp_path: Path) -> None:
    both = [Course(tmp_path / one, 20, QUICK) for one in "ab"]
    for number, course in enumerate(both):
        for name in course.names:
            (course.submissions / f"{name}.py").rename(course.submissions / f"{number}-{name}.py")
        course.names = [f"{number}-{name}" for name in course.names]
        course.book = str(tmp_path / "gradebook.sqlite")
    runs = [course.start("--jobs", "1", "--gradebook", course.book) for course in both]
    for run, course in zip(runs, both, strict=True):
        _, errors = run.communicate(timeout=120)
        assert (run.returncode, errors) == (0, "")
        course.assert_complete()


def test_the_first_interrupt_finishes_what_runs_and_keeps_it(course: Course, tmp_path: Path) -> None:
    for name in ("student-0", "student-10"):  # in the order of names the first and the third
        course.write(name, f"wait {tmp_path / 'go'}")
    run = course.start("--jobs", "2")
    assert next(lines(run)) == "student-1"
    run.send_signal(signal.SIGINT)
    assert run.stderr is not None
    assert "Finishing what runs. Ctrl-C again stops at once" in run.stderr.readline()
    (tmp_path / "go").touch()
    output, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    kept = course.attempts()
    assert "student-0" in kept
    assert len(kept) in (2, 3)
    assert f"{len(kept)} submissions: " in output
    assert (
        f"Interrupted: {40 - len(kept)} not graded. What was finished is in {course.book}; the same" in errors
    )
    assert course.grade()[0] == 0
    course.assert_complete()


def test_the_second_interrupt_stops_at_once_and_keeps_what_was_finished(course: Course) -> None:
    course.write("student-1", "wait /never")
    run = course.start("--jobs", "1")
    assert next(lines(run)) == "student-0"
    run.send_signal(signal.SIGINT)
    assert run.stderr is not None
    run.stderr.readline()
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert errors.startswith("Stopped. What was finished is in ")
    assert course.attempts() == ["student-0"]


def test_a_full_disk_ends_the_run_and_keeps_what_was_finished(course: Course) -> None:
    bubblewrap = shutil.which("bwrap")
    small = ["--dev-bind", "/", "/", "--size", "1000000", "--tmpfs", str(course.out)]
    course.out.mkdir()
    if bubblewrap is None or subprocess.run([bubblewrap, *small, "true"]).returncode:
        pytest.skip("bubblewrap does not work here, so that no small disk can be had")
    quick = " ".join(QUICK)  # what is on the disk is listed before it goes with the process
    script = f"{quick} grade {course.submissions} --out {course.out}; echo exit $?"
    script += f"; {quick} gradebook list --gradebook {course.book}"
    run = subprocess.run([bubblewrap, *small, "bash", "-c", script], capture_output=True, text=True)
    graded, _, listed = run.stdout.partition("exit 3\n")
    assert "No space left on device" in run.stderr or "disk is full" in run.stderr
    assert "the same command continues" in run.stderr
    assert "Traceback" not in run.stderr
    said = set(LINE.findall(graded))
    assert said
    assert said <= {line.split()[3] for line in listed.splitlines()}
