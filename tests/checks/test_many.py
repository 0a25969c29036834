"""Grading many: whatever happens to one submission or to the grader, no result is lost."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import pytest
from quick_tasks import NoChildren, Quick
from sqlalchemy import select

from vitcheck.checks.assignment.asked_points import Points
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.classes import many
from vitcheck.checks.classes.engines.local import Local
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.gradebook.store import Gradebook
from vitcheck.checks.classes.gradebook.tables import Attempt
from vitcheck.checks.classes.many import Class, Watch, grade_many
from vitcheck.checks.record.result import Result

NAMES = ("ann", "bob", "cleo", "dan", "eve")


@dataclass
class Seen(Watch):
    """What a run tells; ``on_done`` is called at each result."""

    on_done: Callable[[str], None] = lambda name: None
    taken_first: int = 0
    begun_names: list[str] = field(default_factory=list)
    done_names: list[str] = field(default_factory=list)
    taken_names: list[str] = field(default_factory=list)

    def start(self, waiting: int, taken: int) -> None:
        self.taken_first = taken

    def begun(self, name: str) -> None:
        self.begun_names.append(name)

    def done(self, result: Result) -> None:
        self.done_names.append(result.submission)
        self.on_done(result.submission)

    def taken(self, result: Result) -> None:
        self.taken_names.append(result.submission)


class Course:
    """Submissions in a folder, and what becomes of them."""

    def __init__(self, folder: Path) -> None:
        self.out = folder / "out"
        self._folder = folder
        self.write(**{name: name for name in NAMES})

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self._folder / f"{name}.py").write_text(text)

    def grade(
        self,
        seen: Seen | None = None,
        *,
        jobs: int = 1,
        seed: int | None = None,
        force: bool = False,
        retry: bool = False,
        asked: Mapping[str, object] = MappingProxyType({}),
    ) -> Class:
        with self.gradebook() as book:
            return grade_many(
                {one.stem: one for one in sorted(self._folder.glob("*.py"))},
                load_assignment("vit-debugging").model_copy(update=asked),
                self.out,
                engine=Local(jobs),
                gradebook=book,
                watch=seen or Seen(),
                setting=NoChildren(),
                seed=seed,
                force=force,
                retry=retry,
            )

    @contextmanager
    def gradebook(self) -> Iterator[Gradebook]:
        with open_gradebook(str(self._folder / "gradebook.sqlite"), create=True) as book:
            yield book

    def records(self) -> dict[str, str]:
        """What each ``result.json`` gives as the reason, which is what the submission says."""
        files = self.out.glob("*/result.json")
        return {file.parent.name: json.loads(file.read_bytes())["reason"] for file in files}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setattr(many, "Task", Quick)
    return Course(tmp_path)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_submission_has_its_files_and_the_class_its_pages(course: Course, jobs: int) -> None:
    def on_done(name: str) -> None:
        assert (course.out / name / "report.html").exists()

    seen = Seen(on_done)
    graded = course.grade(seen, jobs=jobs)
    assert sorted(seen.begun_names) == sorted(seen.done_names) == list(NAMES)
    assert (graded.graded, graded.left, graded.lost) == (5, 0, ())
    assert {one.name for one in course.out.iterdir()} == {*NAMES, "index.html", "grades.csv", "grades.json"}
    with (course.out / "grades.csv").open(encoding="utf-8", newline="") as rows:
        assert {row[0] for row in csv.reader(rows)} >= set(NAMES)


def test_other_points_and_texts_grade_nothing_anew(course: Course) -> None:
    course.grade()
    other = {"points": Points(parts={"attention": 50}), "title": "Another title"}
    seen = Seen()
    assert course.grade(seen, asked=other).graded == 0
    assert (seen.begun_names, sorted(seen.taken_names)) == ([], list(NAMES))
    with course.gradebook() as book:
        attempts = book.history("vit-debugging", "ann")
        assert [one.possible for one in attempts if isinstance(one, Attempt)] == [100, 50]
    shown = json.loads((course.out / "ann" / "result.json").read_bytes())
    assert (shown["asked"]["title"], shown["score"]["possible"]) == ("Another title", 50)
    course.grade(asked=other)
    with course.gradebook() as book:
        assert len(book.history("vit-debugging", "ann")) == 2
    assert course.grade(asked={**other, "examples": 3}).graded == len(NAMES)


def test_the_number_of_jobs_changes_no_byte(course: Course) -> None:
    """Nor does it lose the arrays."""
    written = []
    for jobs in (1, 3):
        course.grade(jobs=jobs, seed=7, force=True)
        files = sorted(course.out.rglob("*.*"))
        written.append({one.relative_to(course.out): one.read_bytes() for one in files})
    assert written[0] == written[1]
    assert sum(path.name == "arrays.safetensors" for path in written[0]) == len(NAMES)


@pytest.mark.parametrize(("jobs", "fault"), [(1, "raise"), (2, "raise"), (1, "die"), (2, "die")])
def test_where_the_grader_fails_the_submission_is_shown_and_the_others_go_on(
    course: Course, jobs: int, fault: str, capfd: pytest.CaptureFixture[str]
) -> None:
    course.write(bob=fault, dan=fault)
    assert sorted(course.grade(jobs=jobs).lost) == ["bob", "dan"]
    record = json.loads((course.out / "bob" / "result.json").read_text())
    assert record["reason"].startswith("the grader itself failed on this submission")
    assert record["score"] == {"earned": 0, "possible": 100}
    assert course.records().items() >= {"ann": "ann", "cleo": "cleo", "eve": "eve"}.items()
    assert "bob" in (course.out / "index.html").read_text()
    assert ("a fault of the grader" in capfd.readouterr().err) == (fault == "raise")


@pytest.mark.parametrize("load", [0.0, 1_000.0])
def test_what_ran_out_of_time_on_a_busy_machine_is_tried_once_more_alone(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: float
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load))
    course.write(bob=f"late {tmp_path / 'mark'}")
    seen = Seen()
    assert course.grade(seen, jobs=2).graded == len(NAMES)
    assert sorted(seen.done_names) == list(NAMES)
    record = json.loads((course.out / "bob" / "result.json").read_text())
    assert record["status"] == ("crashed" if load else "timed_out")
    assert (seen.done_names[-1] == "bob") or not load


def test_a_busy_machine_gives_no_points_and_keeps_nothing(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1_000.0, 0.0, 0.0))
    course.write(bob="slow")
    assert course.grade().lost == ("bob",)
    with course.gradebook() as book:
        assert "bob" not in [one.attempt.submission for one in book.entries()]
    possible, *rows = csv.DictReader((course.out / "grades.csv").read_text().splitlines())
    (bob,) = [one for one in rows if one["submission"] == "bob"]
    assert (possible["score"], bob["status"], bob["score"]) == ("100", "not_finished", "")
    assert "too much else to do" in json.loads((course.out / "bob" / "result.json").read_text())["reason"]
    monkeypatch.undo()
    monkeypatch.setattr("vitcheck.checks.classes.many.Task", Quick)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    assert course.grade().lost == ()  # an endless loop on an idle machine is the work's own fault


def test_what_ran_out_of_memory_is_taken_unless_it_is_tried_again(course: Course) -> None:
    course.grade()
    with course.gradebook() as book, book._session(book._writing) as session:
        for one in session.scalars(select(Attempt).where(Attempt.submission == "bob")):
            one.status = "out_of_memory"
    assert course.grade().graded == 0
    assert course.grade(retry=True).graded == 1


def test_what_the_grader_failed_on_is_graded_again_with_the_seed_of_the_run(course: Course) -> None:
    course.write(bob="raise")
    first = course.grade()
    seen = Seen()
    again = course.grade(seen)
    assert seen.done_names == ["bob"]
    assert again.seed == first.seed


def test_what_is_unchanged_is_taken_from_the_gradebook(course: Course) -> None:
    course.grade()
    course.write(bob="better", zoe="new")
    seen = Seen()
    assert course.grade(seen).graded == 2
    assert seen.taken_first == 4
    assert sorted(seen.done_names) == ["bob", "zoe"]
    assert sorted(seen.taken_names) == ["ann", "cleo", "dan", "eve"]
    assert course.records() == {name: name for name in NAMES} | {"bob": "better", "zoe": "new"}


def test_what_is_unchanged_is_graded_anew_where_that_is_asked_for(course: Course) -> None:
    first = course.grade()
    for options in ({"force": True}, {"seed": first.seed + 1}):
        assert course.grade(**options).graded == 5
    assert course.grade(seed=first.seed).graded == 0
    with course.gradebook() as book:
        assert len(book.history("vit-debugging", "ann")) == 3


def test_another_assignment_or_other_checks_are_other_work(course: Course, tmp_path: Path) -> None:
    def graded(name: str, checks: Path | None = None) -> int:
        with course.gradebook() as book:
            return grade_many(
                {one.stem: one for one in sorted(tmp_path.glob("*.py"))},
                load_assignment(name),
                course.out,
                engine=Local(1),
                gradebook=book,
                watch=Seen(),
                setting=NoChildren(),
                checks=checks,
            ).graded

    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "test_own.py").write_text("")
    assert [graded("vit-debugging"), graded("vit-prenorm"), graded("vit-debugging")] == [5, 5, 0]
    assert [graded("vit-debugging", tmp_path / "own") for _ in range(2)] == [5, 0]
    (tmp_path / "own" / "test_own.py").write_text("x = 1")
    assert graded("vit-debugging", tmp_path / "own") == 5


def test_files_that_are_missing_or_stale_are_written_again(course: Course) -> None:
    course.grade()
    before = {one: one.read_bytes() for one in course.out.rglob("*.*")}
    (course.out / "ann" / "report.html").unlink()
    (course.out / "bob" / "result.json").write_text("{}")
    (course.out / "index.html").unlink()
    course.grade()
    assert {one: one.read_bytes() for one in course.out.rglob("*.*")} == before


def test_an_adjustment_is_in_the_reports_of_the_next_run(course: Course) -> None:
    course.grade()
    with course.gradebook() as book:
        book.adjust("vit-debugging", "ann", "eva", delta=3.0, comment="a typo")
    course.grade(force=True)
    for page in ("ann/report.html", "index.html", "grades.csv"):
        assert "adjusted by +3: a typo" in (course.out / page).read_text()
    assert json.loads((course.out / "ann" / "result.json").read_text())["score"]["earned"] == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_keeps_what_was_done_and_the_run_is_continued(course: Course, jobs: int) -> None:
    def interrupt(name: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        course.grade(Seen(interrupt), jobs=jobs)
    ((kept, _),) = course.records().items()
    seen = Seen()
    assert course.grade(seen, jobs=jobs).graded == 4
    assert kept not in seen.done_names
    assert course.records() == {name: name for name in NAMES}
