"""What a submission may use up inside the sandbox, how it ends, and what the next one finds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from endings import ENDINGS
from locked_in import HANDLERS, LIMITS, evaluate, living

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.submissions.errors import OutOfMemory, SubmissionError, TimedOut
from vitcheck.submissions.host.conversation import Child
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.sandbox.isolation import Sandbox


@pytest.fixture
def child(locked_zygote: Zygote) -> Iterator[Child]:
    with locked_zygote.child(LIMITS, handlers=HANDLERS) as child:
        yield child


FILLS = {
    "a huge tensor": "import torch\ntorch.ones(1 << 35)",
    "a leak": "kept = []\nwhile True:\n    kept.append(bytearray(1 << 20))",
    "four processes together": """
import os, time
for _ in range(4):
    if os.fork() == 0:
        kept = bytearray(b"x") * (128 << 20)
        time.sleep(60)
time.sleep(60)
""",
}


@pytest.mark.parametrize("how", FILLS)
def test_memory_has_a_limit_in_all(child: Child, how: str) -> None:
    with pytest.raises(OutOfMemory, match=r"^the code needed more than 0\.25 GB of memory$"):
        evaluate(child, FILLS[how])


def test_shared_memory_counts_too(child: Child) -> None:
    assert evaluate(child, "import mmap\nmmap.mmap(-1, 512 << 20)") == "OSError"
    assert evaluate(child, "import os\nos.truncate(os.memfd_create('x'), 1 << 30)") == "OSError"


@pytest.mark.parametrize("folder", [".", "/dev/shm"])
def test_the_scratch_folder_has_a_limit_in_all(child: Child, folder: str) -> None:
    source = f"""
value = 0
try:
    for number in range(10):
        with open(f"{folder}/{{number}}", "wb") as file:
            file.write(bytes(1 << 20))
        value += 1
except OSError as error:
    value = [value, error.strerror]
"""
    assert evaluate(child, source) == [4, "No space left on device"]


def test_processes_and_threads_have_a_limit_together(child: Child) -> None:
    source = """
import os, threading, time
count = 0
try:
    for _ in range(6):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        count += 1
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
except BlockingIOError:
    value = count
"""
    assert 8 <= evaluate(child, source) < 16


@pytest.mark.parametrize(("request_", "kind", "reason"), ENDINGS)
def test_what_ends_a_submission_is_said(
    child: Child, request_: str, kind: type[SubmissionError], reason: str
) -> None:
    with pytest.raises(kind) as raised:
        child.request({"request": request_})
    assert raised.value.reason == reason


def test_processor_time_has_a_limit(locked_zygote: Zygote) -> None:
    child = locked_zygote.child(replace(LIMITS, cpu_seconds=1), handlers=HANDLERS)
    with child, pytest.raises(TimedOut, match=r"^the code used more than 1 s of processor time$"):
        child.request({"request": "burn"})


SURVIVORS = {
    "an endless loop that ignores everything": "import hostile\nhostile.loop({})",
    "daemons": "import hostile\nfor _ in range(5):\n    hostile.daemon({})\nhostile.loop({})",
    "as many processes as it gets": (
        "import os\ntry:\n    while True:\n        os.fork()\nexcept BlockingIOError:\n    while True: pass"
    ),
    "threads": """
import threading, time
try:
    while True:
        threading.Thread(target=time.sleep, args=(60,)).start()
except RuntimeError:
    time.sleep(60)
""",
}


@pytest.mark.parametrize("what", SURVIVORS)
def test_everything_that_a_child_starts_ends_with_it(locked_zygote: Zygote, what: str) -> None:
    with locked_zygote.child(LIMITS, handlers=HANDLERS):
        pass
    before = living()
    limits = replace(LIMITS, request_seconds=0.5)
    with locked_zygote.child(limits, handlers=HANDLERS) as child, pytest.raises(TimedOut):
        child.request({"request": "evaluate", "source": SURVIVORS[what]})
    assert living() == before


_PARENT = """
import json, os, signal
import psutil
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.sandbox.isolation import Isolation, open_sandbox
with Zygote((), open_sandbox(Isolation.REQUIRE)) as zygote:
    child = zygote.child(handlers="hostile:HANDLERS")
    child.request({"request": "daemon"})
    print(json.dumps([one.pid for one in psutil.Process().children(recursive=True)]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_outlives_a_parent_that_is_killed(sandbox: Sandbox, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _PARENT], env=environment, stdout=subprocess.PIPE, check=False
    )
    assert done.returncode == -signal.SIGKILL
    pids = json.loads(done.stdout)
    deadline = time.monotonic() + 10
    while any(map(psutil.pid_exists, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(pids) >= 7  # bubblewrap twice, zygote, keeper, monitor, child, daemon; and the next child's
    assert not any(map(psutil.pid_exists, pids))
    assert list(tmp_path.iterdir()) == []


def test_what_is_in_force_is_what_was_tried(sandbox: Sandbox, child: Child) -> None:
    assert child.layers == sandbox.layers


def test_the_result_says_what_is_in_force(sandbox: Sandbox, locked_zygote: Zygote, tmp_path: Path) -> None:
    broken = tmp_path / "ann.py"
    broken.write_text("import torch\nraise ValueError")
    result = grade(broken, load_assignment("vit-debugging"), zygote=locked_zygote)
    assert result.run.isolation == ["own process", *sandbox.layers]


def test_a_child_that_lacks_a_layer_gets_no_code(sandbox: Sandbox) -> None:
    promising = replace(sandbox, inner=(*sandbox.inner, "a moat"))
    lacks = pytest.raises(RuntimeError, match="lacks what worked when it was tried: a moat")
    with Zygote((), promising) as zygote, lacks:
        zygote.child(handlers=HANDLERS)


def test_random_numbers_follow_the_seed_though_the_child_was_there_before_it(locked_zygote: Zygote) -> None:
    drawn = []
    for seed in (1, 1, 2):
        with locked_zygote.child(LIMITS, seed=seed, handlers=HANDLERS) as child:
            drawn.append(
                evaluate(child, "import random, torch\nvalue = [random.random(), float(torch.rand(()))]")
            )
    assert drawn[0] == drawn[1]
    assert not set(drawn[1]) & set(drawn[2])


def test_each_submission_has_its_own_limits_though_the_next_child_was_made_with_others(
    locked_zygote: Zygote,
) -> None:
    source = "import os\none = os.statvfs('.')\nvalue = one.f_blocks * one.f_frsize"
    for size in (4 << 20, 8 << 20, 4 << 20):
        with locked_zygote.child(replace(LIMITS, scratch_bytes=size), handlers=HANDLERS) as child:
            assert evaluate(child, source) == size


def test_a_zygote_that_has_died_takes_the_next_child_with_it_and_is_started_again(sandbox: Sandbox) -> None:
    others = psutil.Process().children()
    with Zygote((), sandbox) as zygote:
        with zygote.child(LIMITS, handlers=HANDLERS):
            (bubblewrap,) = [one for one in psutil.Process().children() if one not in others]
        bubblewrap.kill()
        bubblewrap.wait()
        with zygote.child(LIMITS, handlers=HANDLERS) as child:
            assert evaluate(child, "value = 1") == 1
