"""What a large class needs, from what a small one uses: processors, memory, the network, and disks."""

from __future__ import annotations

import pickle
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import process_time

import psutil

from common import ASSIGNMENT, show  # isort: skip - it lets the next ones be found
from class_run import ClassRun
from clusters import scheduler, workers
from mixed_class import mixed_class, write
from quick_tasks import quick

from vitcheck.checks.classes.engines import Engine
from vitcheck.checks.classes.engines.dask import Dask
from vitcheck.checks.classes.engines.local import Local
from vitcheck.checks.classes.tasks import Task
from vitcheck.submissions.reading.packing import pack

_PLANNED = 100_000  # submissions
_HOURS = 8  # in which they are to be graded
_TASKS = 400  # that cost nothing, to see what handing out costs
_TYPICAL = 7000  # bytes of a submission


@dataclass(frozen=True)
class Sample:
    """One moment of a run; of the command itself, and of the workers with all below them."""

    results: int
    command_seconds: float  # of processors
    workers_seconds: float
    command_bytes: int  # of memory
    workers_bytes: int


def samples(run: ClassRun) -> Iterator[Sample]:
    """Grade the class, and look now and then."""
    command = run.start()
    top = psutil.Process(command.pid)
    for look in run.watch(command):
        with suppress(psutil.NoSuchProcess):  # it has ended
            times, memory = top.cpu_times(), top.memory_full_info().pss
            own = times.user + times.system
            yield Sample(look.results, own, look.cpu - own, memory, command.memory() - memory)


def rows(run: ClassRun, jobs: int) -> Iterator[tuple[str, str, str]]:
    """What is planned with, for one submission and for many."""
    seen = list(samples(run))
    warm, end = next(one for one in seen if one.results >= jobs), seen[-1]
    count = end.results - warm.results
    work = (end.workers_seconds - warm.workers_seconds) / count
    own = (end.command_seconds - warm.command_seconds) / count + handing_out()
    yield "processor time of workers", f"{work:.2f} s", f"{_PLANNED * work / 3600:.0f} h"
    yield "processor time of the command", f"{own:.3f} s", f"{_PLANNED * own / 3600:.1f} h"
    yield "workers that one command keeps busy", f"{work / own:.0f}", ""
    yield f"workers for {_HOURS} hours", "", f"{_PLANNED * work / 3600 / _HOURS:.1f}"
    for what, size in sizes(run).items():
        yield what, f"{size / 1e3:.1f} kB", f"{_PLANNED * size / 1e9:.2f} GB"
    usual = median(one.workers_bytes for one in seen)  # what a submission hoards is the most, and is limited
    yield "memory of a worker", f"{usual / jobs / 1e6:.0f} MB", ""
    yield "memory of the command", f"{max(one.command_bytes for one in seen) / 1e6:.0f} MB", ""


def handing_out() -> float:
    """The processor time that a task costs this process more where a cluster does it."""
    tasks = list(quick(**{f"s{number}": "#" * _TYPICAL for number in range(_TASKS)}))
    with TemporaryDirectory() as folder, scheduler(Path(folder)) as address, workers(address, 2):
        return seconds_a_task(Dask(address), tasks) - seconds_a_task(Local(2), tasks)


def seconds_a_task(engine: Engine, tasks: Sequence[Task]) -> float:
    """The processor time that this process takes to have one done."""
    with engine:
        before = process_time()
        for _ in engine.run(tasks):
            pass
        return (process_time() - before) / len(tasks)


def sizes(run: ClassRun) -> dict[str, float]:
    """The bytes of one submission."""
    tasks = [Task(pack(path), path.stem, ASSIGNMENT, seed=7) for path in run.submissions.iterdir()]
    records = run.records()

    def written(pattern: str) -> float:
        return sum(one.stat().st_size for one in run.out.glob(pattern)) / len(records)

    return {
        "task, over the network": mean(len(pickle.dumps(one)) for one in tasks),
        "result, over the network": written("*/result.json"),
        "in the gradebook": written("gradebook.sqlite*"),
        "files of a submission": written("*/*"),
        "pages of the class": written("index.html") + written("grades.csv"),
    }


def main() -> None:
    """Print the table."""
    parser = ArgumentParser()
    parser.add_argument("--submissions", type=int, default=60, help="of the class that is measured")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        write(mixed_class(options.submissions), Path(folder, "submissions"))
        run = ClassRun(
            Path(folder, "submissions"), Path(folder, "grades"), ("--jobs", str(options.jobs), "--seed", "7")
        )
        table = list(rows(run, options.jobs))
        show((f"{len(run.records())} submissions", "each", f"{_PLANNED:,}"), table)


if __name__ == "__main__":
    main()
