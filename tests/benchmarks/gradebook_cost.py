"""What the gradebook costs a submission, and what the pages of a class take of memory."""

from __future__ import annotations

import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from common import ASSIGNMENT, show
from gradebooks import work
from postgres_server import new_database, server
from test_examples import FOLDER

from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.gradebook.store import Gradebook
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.result import Result
from vitcheck.reports.writer import write_class
from vitcheck.submissions.host.process import Zygote


def main() -> None:
    """Print a row for each kind of database, milliseconds being means over a class."""
    parser = ArgumentParser()
    parser.add_argument("--submissions", type=int, default=1000)
    size = parser.parse_args().submissions
    with Zygote() as zygote:
        result = grade(FOLDER / "two_mistakes.py", ASSIGNMENT, zygote=zygote)
    with server() as url, tempfile.TemporaryDirectory() as folder:
        places = {"SQLite": str(Path(folder, "gradebook.sqlite")), "PostgreSQL": new_database(url)}
        head = ("", "opening, ms", "keeping, ms", "reading, ms", "the list, ms", "class pages, ms", "and MB")
        rows = [(name, *_costs(place, result, size, Path(folder))) for name, place in places.items()]
        show(head, rows)
        print(f"\n{size} submissions; a record has {len(result.to_json()) / 1000:.0f} kB,", end=" ")
        print(f"in the SQLite file {Path(places['SQLite']).stat().st_size / size / 1000:.0f} kB")


def _costs(place: str, result: Result, size: int, folder: Path) -> Iterator[float]:
    names = [f"student-{number}" for number in range(size)]
    contents = dict.fromkeys(names, "x")
    with open_gradebook(place, create=True):
        pass
    began = time.perf_counter()
    with open_gradebook(place) as book:
        yield 1000 * (time.perf_counter() - began)
        run = book.begin(work(contents), 7)
        results = [result.model_copy(update={"submission": name}) for name in names]
        yield _each(size, lambda: [book.record(run, "x", one) for one in results])
        del results
        kept = book.finished(work(contents), run).values()
        yield _each(size, lambda: [book.result(one) and None for one in kept])
        yield size * _each(size, book.entries)
        before = psutil.Process().memory_info().rss
        yield _each(size, lambda: write_class(_read(book, list(kept)), folder))
        yield (psutil.Process().memory_info().rss - before) / 1e6


def _read(book: Gradebook, attempts: list[int]) -> Iterator[Result]:
    return (book.result(one) for one in attempts)


def _each(size: int, do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return 1000 * (time.perf_counter() - began) / size


if __name__ == "__main__":
    main()
