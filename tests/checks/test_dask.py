"""A Dask cluster: workers die and differ, schedulers are not there; nothing is lost or done wrong."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from clusters import scheduler, workers
from distributed import Client
from postgres_server import new_database
from quick_tasks import NoChildren, Quick, Unfit, quick

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.classes import many
from vitcheck.checks.classes.engines import Begun, Done, Engine, EngineError, dask
from vitcheck.checks.classes.engines.dask import Dask
from vitcheck.checks.classes.engines.local import Local
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.many import Watch, grade_many
from vitcheck.checks.classes.tasks import Task
from vitcheck.submissions.reading.packing import pack

EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"


def real() -> Iterable[Task]:
    for name in ("scale_by_width.py", "syntax_error.py", "missing_import.py"):
        yield Task(pack(EXAMPLES / name), name, load_assignment("vit-debugging"), seed=7)


def records(events: Iterable[Begun | Done]) -> dict[str, dict[str, Any]]:
    """The results without their times; each may be there only once."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        if isinstance(event, Done):
            assert event.task.name not in found
            assert event.result is not None
            found[event.task.name] = json.loads(event.result.to_json())
            del found[event.task.name]["run"]["seconds"]
    return found


def kill_a_busy_worker(address: str) -> None:
    with Client(address, set_as_default=False) as client:
        while not (busy := [worker for worker, tasks in client.processing().items() if tasks]):
            time.sleep(0.01)
        os.kill(client.run(os.getpid, workers=busy[:1])[busy[0]], signal.SIGKILL)


def test_a_worker_killed_in_mid_run_changes_nothing_in_the_results(cluster: str) -> None:
    def killing(engine: Engine) -> Iterator[Begun | Done]:
        events = engine.run(real())
        yield next(events)
        kill_a_busy_worker(cluster)
        yield from events

    with Dask(cluster) as there, Local(1) as here:
        assert records(killing(there)) == records(here.run(real()))


class KillsOnce(Watch):
    """Kills a worker when the first submission is begun."""

    def __init__(self, cluster: str, waited_for: Path) -> None:
        self._cluster, self._waited_for = cluster, waited_for

    def begun(self, name: str) -> None:
        if not self._waited_for.exists():
            kill_a_busy_worker(self._cluster)
            self._waited_for.touch()


def test_postgresql_has_each_result_once_though_a_worker_was_killed(
    cluster: str, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "Task", Quick)
    paths = [tmp_path / f"s{number:02}.py" for number in range(20)]
    for path in paths:
        path.write_text(f"wait {tmp_path / 'go'}")
    with open_gradebook(new_database(postgres), create=True) as book:
        graded = grade_many(
            {one.stem: one for one in paths},
            load_assignment("vit-debugging"),
            tmp_path / "out",
            engine=Dask(cluster),
            gradebook=book,
            watch=KillsOnce(cluster, tmp_path / "go"),
            setting=NoChildren(),
        )
        assert (graded.graded, graded.left, graded.lost) == (20, 0, ())
        assert [one.attempt.submission for one in book.entries()] == [path.stem for path in paths]
        assert all(len(book.history("vit-debugging", path.stem)) == 1 for path in paths)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"vitcheck": "0.0.9"}, "has vitcheck [0-9.]+ instead of 0.0.9; install there"),
        ({"threads": "4"}, r"has threads 1 instead of 4; .* \(--nthreads 1\)"),
    ],
)
def test_workers_that_differ_are_refused_whenever_they_come(
    cluster: str, other: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = dask._wanted() | other
    with Dask(cluster) as entered:
        monkeypatch.setattr(dask, "_wanted", lambda: wanted)
        with pytest.raises(EngineError, match=message):
            list(entered.run(quick(a="fine")))
    with pytest.raises(EngineError, match=message), Dask(cluster):
        pass


def test_a_worker_that_cannot_isolate_as_required_ends_the_run_and_is_named(cluster: str) -> None:
    tasks = [replace(task, setting=Unfit()) for task in quick(a="fine")]
    with Dask(cluster) as engine, pytest.raises(EngineError, match=f"{platform.node()}: .* from files"):
        list(engine.run(tasks))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "tls://127.0.0.1:9", "nonsense"])
def test_a_scheduler_that_is_not_there_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "_CONNECT_SECONDS", 0.5)
    with pytest.raises(EngineError, match=f"no Dask scheduler can be reached at {address}: "), Dask(address):
        pass


def test_a_scheduler_without_workers_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "_WORKERS_SECONDS", 0.5)
    with scheduler(tmp_path) as address, pytest.raises(EngineError, match="has had no worker"), Dask(address):
        pass


@pytest.mark.parametrize("finishing", [False, True])
def test_a_scheduler_that_goes_ends_the_run_and_keeps_what_was_done(finishing: bool, tmp_path: Path) -> None:
    done = []

    def run(engine: Dask, running: ExitStack) -> None:
        for event in engine.run(quick(a="fine", b=f"wait {tmp_path / 'never'}")):
            if isinstance(event, Done):
                done.append(event.task.name)
                if finishing:
                    engine.finish()
                running.close()

    with ExitStack() as running:
        address = running.enter_context(scheduler(tmp_path))
        with workers(address, 1), Dask(address) as engine, pytest.raises(EngineError, match="was lost"):
            run(engine, running)
    assert done == ["a"]


def test_without_dask_it_is_said_what_to_install() -> None:
    code = "import sys; sys.modules['distributed'] = None; import vitcheck.checks.classes.engines.dask"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'EngineError: --engine dask needs further packages: pip install "vitcheck[dask]"' in run.stderr
