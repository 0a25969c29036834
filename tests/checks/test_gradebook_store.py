"""What is in a gradebook stays in it, once, whoever else writes; on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from gradebooks import CLASS, adjustments, result, work

from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.gradebook.store import Gradebook
from vitcheck.checks.classes.gradebook.tables import Attempt, Decision
from vitcheck.checks.classes.gradebook.work import Work
from vitcheck.checks.record.adjustment import Adjustment
from vitcheck.checks.record.result import Status


@pytest.fixture
def book(place: str) -> Iterator[Gradebook]:
    with open_gradebook(place, create=True) as book:
        yield book


def test_a_result_comes_back_as_it_went_in(book: Gradebook) -> None:
    run = book.begin(work(), 7)
    record = result("ann", 87.5).model_copy(update={"reason": "'quoted' \n\t … 語"})
    assert book.result(book.record(run, "a1", record)) == record


def test_an_unfinished_run_is_continued_with_its_seed_and_a_finished_one_is_not(book: Gradebook) -> None:
    first = book.begin(work(), 7)
    again = book.begin(work(), 8)
    assert (again.id, again.seed) == (first.id, 7)
    book.end(first)
    assert book.begin(work(), 9).seed == 9


@pytest.mark.parametrize(
    "other",
    [
        work({"ann": "a2", "bob": "b1", "cleo": "c1"}),
        work({"ann": "a1"}),
        work(digest="e"),
        work(isolation="require"),
        work(seed=5),
        work(forced=True),
    ],
    ids=["content", "class", "assignment", "isolation", "seed", "force"],
)
def test_other_work_is_another_run(book: Gradebook, other: Work) -> None:
    first = book.begin(work(), 7)
    assert book.begin(other, 8).id != first.id


def test_a_submission_has_one_attempt_a_run_and_the_first_stays(book: Gradebook) -> None:
    run = book.begin(work(), 7)
    first = book.record(run, "a1", result("ann", 10))
    assert book.record(run, "a1", result("ann", 20)) == first
    assert book.result(first).score.earned == 10


def test_what_is_unchanged_is_found_in_later_runs(book: Gradebook) -> None:
    first = book.begin(work(), 7)
    kept = {name: book.record(first, content, result(name)) for name, content in CLASS.items()}
    book.end(first)
    changed = work(CLASS | {"bob": "b2", "dan": "d1"})
    assert book.finished(changed, book.begin(changed, 8)) == {"ann": kept["ann"], "cleo": kept["cleo"]}


def test_what_ran_out_of_time_is_tried_again_in_a_later_run_and_not_in_the_same(book: Gradebook) -> None:
    first = book.begin(work(), 7)
    late = result("ann").model_copy(update={"status": Status.TIMED_OUT})
    kept = book.record(first, "a1", late)
    assert book.finished(work(), first) == {"ann": kept}
    book.end(first)
    assert book.finished(work(), book.begin(work(), 8)) == {}


@pytest.mark.parametrize(
    "other", [work(digest="e"), work(isolation="require"), work(seed=5), work(forced=True)]
)
def test_what_was_graded_otherwise_than_asked_for_is_not_taken(book: Gradebook, other: Work) -> None:
    book.record(book.begin(work(), 7), "a1", result("ann"))
    run = book.begin(other, 8)
    assert book.finished(other, run) == {}


def test_a_forced_run_that_was_interrupted_keeps_what_it_had(book: Gradebook) -> None:
    book.record(book.begin(work(), 7), "b1", result("bob"))
    forced = book.begin(work(forced=True), 8)
    kept = book.record(forced, "a1", result("ann"))
    again = book.begin(work(forced=True), 9)
    assert book.finished(work(forced=True), again) == {"ann": kept}


def test_the_last_attempt_counts_and_all_are_kept(book: Gradebook) -> None:
    for seed, earned in ((1, 50.0), (2, 60.0)):
        run = book.begin(work(seed=seed), 0)
        book.record(run, "a1", result("ann", earned))
        book.end(run)
    (entry,) = book.entries()
    assert entry.total == 60
    attempts = [one for one in book.history("vit-debugging", "ann") if isinstance(one, Attempt)]
    assert [(one.run.seed, one.earned) for one in attempts] == [(1, 50), (2, 60)]
    assert all(one.at.utcoffset() is not None for one in attempts)


def test_an_adjustment_survives_regrading(book: Gradebook) -> None:
    book.record(book.begin(work(), 7), "a1", result("ann", 50))
    book.adjust("vit-debugging", "ann", "eva", delta=3.0, comment="a typo")
    book.record(book.begin(work(forced=True), 8), "a1", result("ann", 60))
    (entry,) = book.entries("vit-debugging")
    assert (entry.attempt.earned, entry.total, entry.adjustment.comment) == (60, 63, "a typo")


def test_what_is_not_said_anew_stays_adjusted(book: Gradebook) -> None:
    book.adjust("vit-debugging", "ann", "eva", delta=3.0, comment="a typo")
    book.adjust("vit-debugging", "ann", "udo", late_days=2, extra_hours=12)
    expected = Adjustment(delta=3.0, comment="a typo", late_days=2, extra_hours=12)
    assert adjustments(book) == {"ann": expected}
    decisions = [one for one in book.history("vit-debugging", "ann") if isinstance(one, Decision)]
    assert [(one.who, one.adjustment.late_days) for one in decisions] == [("eva", 0), ("udo", 2)]


def test_the_same_name_in_another_assignment_is_another_student(book: Gradebook) -> None:
    book.adjust("vit-rollout", "ann", "eva", delta=3.0)
    assert adjustments(book) == {}


def test_several_writers_lose_nothing_and_double_nothing(book: Gradebook, place: str) -> None:
    names = [f"student-{number}" for number in range(20)]
    contents = dict.fromkeys(names, "x")

    def grade_all(_: int) -> None:
        with open_gradebook(place) as mine:
            run = mine.begin(work(contents), 7)
            for name in names:
                mine.record(run, "x", result(name))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(grade_all, range(4)))
    assert sorted(one.attempt.submission for one in book.entries()) == sorted(names)
    assert len({one.attempt.run_id for one in book.entries()}) == 1
