"""A long class run: the memory of all its processes, and whether anything is lost when it is killed."""

from __future__ import annotations

import csv
import random
import sqlite3
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from statistics import median
from tempfile import TemporaryDirectory

import psutil
from class_run import ClassRun
from common import show
from mixed_class import mixed_class, write

_ASSIGNMENT = Path(__file__).with_name("long_run.toml")
_MEMORY_SECONDS = 2.0  # between two looks at the memory, which cost more than those at the clock
_KILLED_BEFORE = 0.9  # of the class, so that there is something left to continue
_EARLY, _LATE = (0.1, 0.2), (0.9, 1.0)  # of the class, what is compared


@dataclass(frozen=True)
class Memory:
    """Bytes of all processes together when so many results were there."""

    results: int
    used: int


def memory_of(run: ClassRun) -> list[Memory]:
    """Grade the class to the end, and look at the memory on the way."""
    command, seen, due = run.start(), list[Memory](), 0.0
    for look in run.watch(command):
        if look.seconds >= due:
            seen.append(Memory(look.results, command.memory()))
            due = look.seconds + _MEMORY_SECONDS
    assert command.exit_code == 0, run.log.read_text()
    return seen


def around(seen: Sequence[Memory], window: tuple[float, float], count: int) -> float:
    """The median, in MB, while that part of the class was graded."""
    first, last = window
    return median(one.used for one in seen if first * count <= one.results < last * count) / 1e6


def show_memory(count: int, folder: Path) -> None:
    """Grade without a stop, and print the memory early and late in the run."""
    run = class_run(count, folder)
    seen = memory_of(run)
    early, late = around(seen, _EARLY, count), around(seen, _LATE, count)
    most = max(one.used for one in seen) / 1e6
    head = ("submissions", "seconds", "MB at 10-20 %", "MB at 90-100 %", "growth", "most, MB")
    show(head, [(count, run.seconds, early, late, f"{late / early - 1:+.1%}", most)])


def killed_after(run: ClassRun, results: int, seconds: float) -> list[psutil.Process]:
    """Kill the command so long after so many results; the answer is what was running below it."""
    command, deadline = run.start(), float("inf")
    below: list[psutil.Process] = []
    for look in run.watch(command):
        if look.results >= results:
            deadline = min(deadline, look.seconds + seconds)
        if look.seconds >= deadline and not below:
            _, *below = command.tree()
            command.kill()
    if command.exit_code != -SIGKILL:
        raise RuntimeError(f"it ended before it could be killed: {run.log.read_text()}")
    return below


def show_kills(count: int, kills: int, folder: Path, seed: int) -> None:
    """Kill the run at random instants, continue it by the same command, and count what is there."""
    run, chance = class_run(count, folder), random.Random(seed)
    killed: list[tuple[int, list[psutil.Process]]] = []
    for results in sorted(chance.randrange(round(_KILLED_BEFORE * count)) for _ in range(kills)):
        below = killed_after(run, results, chance.random())
        killed.append((len(run.records()), below))  # and continued at once, whatever is still running
    run.finish()
    ended = [(results, sum(one.is_running() for one in below)) for results, below in killed]
    show(
        ("kill", "results by then", "its processes left in the end"),
        [(n, *row) for n, row in enumerate(ended, 1)],
    )
    names = set(mixed_class(count))
    places = {
        "reports": [path.parent.name for path in run.records()],
        "gradebook": attempts_in(run.out),
        "grades.csv": grades_in(run.out),
    }
    rows = [(place, len(names), *lost_and_doubled(names, found)) for place, found in places.items()]
    show(("in the end", "submissions", "missing", "doubled"), rows)


def lost_and_doubled(names: set[str], found: Sequence[str]) -> tuple[int, int]:
    """How many names are missing, and how many are there more than once."""
    counts = Counter(found)
    return len(names - counts.keys()), sum(one > 1 for one in counts.values())


def attempts_in(out: Path) -> list[str]:
    """The submission of each attempt in the gradebook."""
    with closing(sqlite3.connect(out / "gradebook.sqlite")) as connection:
        return [name for (name,) in connection.execute("SELECT submission FROM attempts")]


def grades_in(out: Path) -> list[str]:
    """The submission of each row in the table of grades."""
    with (out / "grades.csv").open(encoding="utf-8", newline="") as file:
        return [row["submission"] for row in csv.DictReader(file)]


def class_run(count: int, folder: Path) -> ClassRun:
    """A mixed class that is handed in, and the command for it."""
    write(mixed_class(count), folder / "submissions")
    return ClassRun(folder / "submissions", folder / "grades", ("--assignment", str(_ASSIGNMENT)))


def arguments() -> Namespace:
    parser = ArgumentParser()
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument(
        "--seed", type=int, default=time.time_ns() % 2**31, help="of the instants of the kills"
    )
    return parser.parse_args()


def main() -> None:
    """Print both tables."""
    options = arguments()
    print(f"seed {options.seed}")
    with TemporaryDirectory() as folder:
        show_memory(options.submissions, Path(folder))
    with TemporaryDirectory() as folder:
        show_kills(options.submissions, options.kills, Path(folder), options.seed)


if __name__ == "__main__":
    main()
