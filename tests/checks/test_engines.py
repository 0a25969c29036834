"""What every engine promises: each task is done once, whatever happens to the worker that does it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from multiprocessing import Pipe
from pathlib import Path

import psutil
import pytest
from quick_tasks import NoChildren, Quick, quick

from vitcheck.checks.classes.engines import Begun, Done, Engine, worker
from vitcheck.checks.classes.engines.dask import Dask
from vitcheck.checks.classes.engines.local import Local
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.limits import Limits
from vitcheck.submissions.reading.packing import HandIn


@pytest.fixture(params=["local", "dask"])
def engine(request: pytest.FixtureRequest, cluster: str) -> Engine:
    return Local(2) if request.param == "local" else Dask(cluster)


def test_every_task_is_begun_and_then_done_once(engine: Engine) -> None:
    names = [f"s{number}" for number in range(12)]
    with engine:
        events = list(engine.run(quick(**{name: f"by {name}" for name in names})))
    for name in names:
        kinds = [type(event) for event in events if event.task.name == name]
        assert kinds == [Begun, Done]
    reasons = {one.task.name: one.result and one.result.reason for one in events if isinstance(one, Done)}
    assert reasons == {name: f"by {name}" for name in names}


def test_a_grader_that_fails_or_dies_takes_no_other_task_with_it(
    engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    with engine:
        events = list(engine.run(quick(a="fine", b="raise", c="die", d="fine", e="fine")))
    done = {one.task.name: one.result for one in events if isinstance(one, Done)}
    assert {name for name, result in done.items() if result is None} == {"b", "c"}
    assert set(done) == {*"abcde"}
    assert "a fault of the grader" in capfd.readouterr().err


def test_what_takes_too_long_or_too_much_to_judge_is_a_record_and_the_class_goes_on(engine: Engine) -> None:
    with engine:
        slow = _ends(engine, Limits(judge_seconds=1), a="fine", b="spin", c="spin", d="fine")
        large = _ends(engine, Limits(judge_bytes=1 << 29), e="fine", f="fill", g="fine")
    assert {name: status for name, (status, _) in {**slow, **large}.items()} == {
        **dict.fromkeys("adeg", "crashed"),
        **dict.fromkeys("bc", "timed_out"),
        "f": "out_of_memory",
    }
    assert "too long to judge" in slow["b"][1]
    assert "too much memory to judge: the grader's own work on it may take 0.5 GB" in large["f"][1]


def _ends(engine: Engine, limits: Limits, **texts: str) -> dict[str, tuple[str, str]]:
    done = {one.task.name: one.result for one in engine.run(quick(limits, **texts)) if isinstance(one, Done)}
    return {name: (one.status.value, one.reason or "") for name, one in done.items() if one is not None}


def test_finishing_ends_what_runs_and_begins_nothing_further(engine: Engine, tmp_path: Path) -> None:
    texts = {f"s{number}": f"wait {tmp_path / 'go'}" for number in range(9)}
    begun, done = set(), set()
    with engine:
        for event in engine.run(quick(**texts)):
            if isinstance(event, Begun):
                begun.add(event.task.name)
                engine.finish()
                (tmp_path / "go").touch()
            else:
                done.add(event.task.name)
    assert begun == done == {"s0"}


def test_tasks_are_taken_only_as_there_are_workers_for_them(engine: Engine) -> None:
    taken, done = 0, 0

    def counted() -> Iterator[Quick]:
        nonlocal taken
        for task in quick(**{f"s{number}": "fine" for number in range(30)}):
            taken += 1
            assert taken - done <= 4
            yield task

    with engine:
        for event in engine.run(counted()):
            done += isinstance(event, Done)
    assert taken == done == 30


def test_to_leave_stops_what_runs(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "go"
    with engine:
        for event in engine.run(quick(a=f"wait {file}", b="fine")):
            if isinstance(event, Done):
                break
    file.touch()  # what a cluster runs cannot be ended there, and is waited for by nobody
    assert not [
        one
        for one in psutil.Process().children()
        if "vitcheck.checks.classes.engines.serving" in one.cmdline()
    ]


def test_a_large_submission_arrives_whole(engine: Engine) -> None:
    with engine:
        events = list(engine.run(quick(large="x" * (12 << 20))))
    assert isinstance(events[-1], Done)
    assert events[-1].result is not None


@dataclass(frozen=True)
class Counted(NoChildren):
    """Keeps the zygotes that were started."""

    started: list[Zygote] = field(default_factory=list)

    def zygote(self) -> Zygote:
        self.started.append(super().zygote())
        return self.started[-1]


def test_a_zygote_serves_many_submissions_and_is_then_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_SUBMISSIONS", 3)
    setting = Counted()
    with worker.Worker() as one:
        for task in quick(**{f"s{number}": "fine" for number in range(7)}):
            one.grade(replace(task, setting=setting))
    assert len(setting.started) == 3


def test_own_checks_lie_in_one_place_while_a_worker_needs_them() -> None:
    def handed(text: str) -> HandIn:
        return HandIn("own", True, {"test_own.py": text.encode()})

    (task,) = quick(a="checks")
    with worker.Worker() as one:
        said = [one.grade(replace(task, checks=handed(text))).reason for text in ("x", "x", "y", "x")]
    places = [Path(str(text).removesuffix(" again")) for text in said]
    assert [str(text).endswith(" again") for text in said] == [False, True, False, False]
    assert places[0] == places[1]
    assert not any(place.exists() for place in places)


# It would end at once, but for what it is about to send as the other side goes.
SENDS_TOO_LATE = """
import sys
from vitcheck.checks.classes.engines import serving

serving._end_with_the_other_side = lambda descriptor: None
serving._answer = lambda worker, task: sys.stdin.read()
serving.main(*sys.argv[1:])
"""


def test_a_worker_says_nothing_when_the_other_side_goes_before_it_answers(tmp_path: Path) -> None:
    ours, theirs = Pipe()
    run = subprocess.Popen(
        [sys.executable, "-c", SENDS_TOO_LATE, str(theirs.fileno()), str(tmp_path), str(tmp_path)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[theirs.fileno()],
    )
    theirs.close()
    ours.send("a task")
    ours.close()
    assert run.communicate("an answer", timeout=60)[1] == ""
