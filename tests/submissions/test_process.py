"""What student code can do to its process, and what the parent makes of it."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from endings import ENDINGS
from wired import encode

from vitcheck.submissions.errors import (
    Crashed,
    Frame,
    NotLoaded,
    OutOfMemory,
    Refused,
    StudentCodeFailed,
    SubmissionError,
    TimedOut,
)
from vitcheck.submissions.host.conversation import Child
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.limits import Limits

HANDLERS = "hostile:HANDLERS"
LIMITS = Limits(request_seconds=5, memory_bytes=256 << 20, printed_bytes=2 << 20, processes=8)


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        with Zygote() as zygote:
            yield zygote


@pytest.fixture(autouse=True)
def scratch(zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing may remain of any child, in processes or in files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert below(zygote) == []
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def child(zygote: Zygote) -> Iterator[Child]:
    with zygote.child(LIMITS, handlers=HANDLERS) as child:
        yield child


def process_of(zygote: Zygote) -> psutil.Process:
    """Its own: other tests of this worker may have zygotes too."""
    assert zygote._process is not None
    return psutil.Process(zygote._process.pid)


def below(zygote: Zygote) -> list[psutil.Process]:
    return [one for one in process_of(zygote).children(recursive=True) if not is_ending(one)]


def is_ending(process: psutil.Process) -> bool:
    """A monitor ends just after its report."""
    try:
        process.wait(1)
    except psutil.TimeoutExpired:
        return False
    return True


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def ask(child: Child, request: str, **header: Any) -> Any:
    return child.request({"request": request, **header})


def test_a_request_is_answered_by_its_handler(child: Child) -> None:
    numbers = torch.randn(3, 4, dtype=torch.float64)
    reply = ask(child, "double", name="é", x=numbers)
    assert reply.keys() == {"name", "x"}
    assert reply["name"] == "é"
    assert torch.equal(reply["x"], numbers * 2)


def test_large_tensors_pass_both_ways(child: Child) -> None:
    numbers = torch.arange(1_000_000, dtype=torch.float64)
    assert torch.equal(ask(child, "double", x=numbers)["x"], numbers * 2)


def test_an_answer_beyond_the_limit_is_not_sent_and_the_next_one_is(child: Child) -> None:
    numbers = torch.zeros(1_000_000, dtype=torch.float64)
    with pytest.raises(OutOfMemory, match="one pass makes tensors of 7 MB, more than 2 MB"):
        child.request({"request": "double", "x": numbers}, body_limit=2 << 20)
    assert torch.equal(ask(child, "double", x=numbers)["x"], numbers)


def test_an_answer_of_too_many_records_is_not_sent_and_the_next_one_is(child: Child) -> None:
    with pytest.raises(OutOfMemory, match="so many operations that their list takes 9 MB, more than 8 MB"):
        child.request({"request": "many", "count": 1_000_000})
    assert ask(child, "double", name="next")["name"] == "next"


def test_matrix_products_and_gradients_work_after_the_fork(child: Child) -> None:
    assert ask(child, "train") == {"shape": [64, 64]}


def test_no_child_is_aborted_in_a_backward_pass(zygote: Zygote) -> None:
    for _ in range(30):  # of children whose thread pool was not renewed first, one in twelve was
        with zygote.child(LIMITS, handlers=HANDLERS) as child:
            assert child.request({"request": "train"}) == {"shape": [64, 64]}


def test_the_child_sees_a_folder_of_its_own_and_little_else(child: Child) -> None:
    seen = ask(child, "surroundings")
    assert seen["cwd"] == seen["home"]
    assert os.path.basename(seen["cwd"]).startswith("vitcheck-")
    assert seen["descriptors"] == [0, 1, 2, 3]
    assert not {"PYTHONPATH", "USER", "PYTEST_CURRENT_TEST"} & set(seen["environment"])
    assert (seen["stdin"], seen["arguments"], seen["threads"]) == ("", ["submission"], 1)


def test_random_numbers_follow_the_seed(zygote: Zygote) -> None:
    drawn = []
    for seed in (1, 1, 2):
        with zygote.child(LIMITS, seed=seed, handlers=HANDLERS) as child:
            drawn.append(ask(child, "surroundings")["random"])
    assert drawn[0] == drawn[1]
    assert not set(drawn[1]) & set(drawn[2])


def test_the_limits_in_force_are_named(child: Child) -> None:
    assert {"memory limit", "processor time limit", "file size limit"} <= set(child.layers)


@pytest.mark.parametrize(
    ("source", "kind", "message", "lines"),
    [
        ("def f():\n    {}['x']\nf()", "KeyError", "'x'", [2, 3]),
        ("exit(2)", "SystemExit", "2", [1]),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", "", [1]),
        ("raise ValueError('é' * 20_000)", "ValueError", "é" * 10_000, [1]),
        ("def f():\n    f()\nf()", "RecursionError", "maximum recursion depth exceeded", [2] * 50),
        ("class E(Exception):\n    def __str__(self): exit()\nraise E", "E", "", [3]),
        ("class E(BaseException): pass\nraise E('\\udc80')", "E", "?", [2]),
        ("import torch\ntorch.ones(2) @ torch.ones(3)", "RuntimeError", "inconsistent tensor size", [2]),
    ],
)
def test_an_exception_in_student_code_is_raised_as_theirs(
    child: Child, source: str, kind: str, message: str, lines: list[int]
) -> None:
    with pytest.raises(StudentCodeFailed) as raised:
        ask(child, "run_student", source=source)
    error = raised.value
    assert error.type == kind
    assert error.message.startswith(message)
    assert len(error.message) <= 10_000
    assert error.frames == tuple(Frame("model.py", line) for line in lines)
    assert ask(child, "double") == {}  # and the process goes on


def test_a_submission_error_of_a_handler_is_raised_again(child: Child) -> None:
    with pytest.raises(NotLoaded, match="no model") as raised:
        ask(child, "ours")
    assert raised.value.frame == Frame("model.py", 3)
    assert ask(child, "double") == {}


def test_a_student_failure_that_a_handler_describes_is_raised_again(child: Child) -> None:
    with pytest.raises(StudentCodeFailed, match="ValueError: wrong") as raised:
        ask(child, "theirs")
    assert raised.value.frames == (Frame("model.py", 3),)


@pytest.mark.parametrize(
    ("request_", "kind", "reason"),
    [
        *ENDINGS,
        ("fork_bomb", Refused, "the code started more than 8 processes"),
        ("leak_tensors", OutOfMemory, "the code needed more than 0.25 GB of memory"),
        ("leak_objects", OutOfMemory, "the code needed more than 0.25 GB of memory"),
        ("flood", Refused, "the code printed more than 2 MB"),
    ],
)
def test_what_ends_a_submission_is_said(
    child: Child, request_: str, kind: type[SubmissionError], reason: str
) -> None:
    with pytest.raises(kind) as raised:
        ask(child, request_)
    assert raised.value.reason == reason


@pytest.mark.parametrize(("is_large", "seconds"), [(False, "0.3"), (True, "0.6")])
def test_a_loop_that_ignores_everything_is_ended_on_time(
    zygote: Zygote, is_large: bool, seconds: str
) -> None:
    began = time.monotonic()
    limits = Limits(request_seconds=0.3, large_times=2)
    message = rf"^the code was still running after {re.escape(seconds)} s in 'loop'$"
    with zygote.child(limits, handlers=HANDLERS) as child, pytest.raises(TimedOut, match=message):
        child.request({"request": "loop"}, is_large=is_large)
    assert time.monotonic() - began < 2


def test_all_requests_together_have_a_limit_too(zygote: Zygote) -> None:
    with zygote.child(Limits(submission_seconds=0.3), handlers=HANDLERS) as child:
        ask(child, "double")
        with pytest.raises(TimedOut, match=r"^the code took more than 0\.3 s in all$"):
            ask(child, "loop")


def test_large_requests_use_up_less_of_what_all_have_together(zygote: Zygote) -> None:
    limits = Limits(submission_seconds=0.5, large_times=20)
    with zygote.child(limits, handlers=HANDLERS) as child:
        for _ in range(4):
            child.request({"request": "evaluate", "source": "import time; time.sleep(0.3)"}, is_large=True)


def test_processor_time_has_a_limit(zygote: Zygote) -> None:
    child = zygote.child(Limits(cpu_seconds=1), handlers=HANDLERS)
    with child, pytest.raises(TimedOut, match=r"^the code used more than 1 s of processor time$"):
        ask(child, "burn")
    assert child.usage is not None
    assert 0.5 < child.usage.cpu_seconds < 2  # processors count in ticks, and a busy one lags


def test_an_ended_child_says_the_same_again(child: Child) -> None:
    for _ in range(2):
        with pytest.raises(Crashed, match="exit code 3"):
            ask(child, "exit_now")


def test_a_child_that_ends_between_two_requests_has_crashed(child: Child) -> None:
    ask(child, "exit_after_answer")
    time.sleep(0.2)
    with pytest.raises(Crashed, match="exit code 0"):
        ask(child, "double")


def test_a_background_process_does_not_outlive_its_submission(zygote: Zygote) -> None:
    with zygote.child(LIMITS, handlers=HANDLERS) as child:
        pid = ask(child, "daemon")["pid"]
        assert is_alive(pid)
    assert not is_alive(pid)


def test_memory_can_be_asked_for_again_after_it_ran_out(child: Child) -> None:
    with pytest.raises(OutOfMemory):
        ask(child, "leak_tensors")
    assert ask(child, "train") == {"shape": [64, 64]}


def test_a_file_cannot_grow_beyond_its_limit(child: Child) -> None:
    with pytest.raises(StudentCodeFailed, match=r"OSError: \[Errno 27\] File too large"):
        ask(child, "write_file", bytes=LIMITS.file_bytes + 1)


def test_what_is_printed_is_kept(child: Child) -> None:
    ask(child, "chatter", characters=3)
    assert child.printed == "a\\udcff bbb\nfrom below\n"


def test_what_is_printed_before_a_crash_is_kept(child: Child) -> None:
    with pytest.raises(Crashed):
        ask(child, "exit_now")
    assert child.printed == "last words\n"


def test_what_is_printed_is_cut(child: Child) -> None:
    ask(child, "chatter", characters=1_000_000)
    assert len(child.printed) == LIMITS.printed_bytes_kept


@pytest.mark.parametrize(
    "answer",
    [
        {"id": 1, "error": "oops"},
        {"id": 1, "error": {"status": "graded", "reason": "", "frame": None}},
        {"id": 1, "error": {"status": "crashed", "reason": "", "frame": [1, 2]}},
        {"id": 1, "error": {"status": "crashed", "reason": "1" * 30_000, "frame": None}},
        {"id": 1, "error": {"type": "", "message": "", "frames": [3]}},
    ],
)
def test_a_forged_error_is_refused(child: Child, answer: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="an error of an unknown form"):
        ask(child, "write_raw", raw=encode(answer).hex())


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        pytest.param(b"hello, I am the answer to all your questions", "a header of", id="text"),
        pytest.param(struct.pack("<QQ", 2, 2**32), "4294967296 bytes of tensors, more than", id="large"),
        pytest.param(encode({"id": 7, "reply": {}}), "an answer to no question", id="number"),
        pytest.param(encode({"id": 1}), "an answer without a reply", id="nothing"),
    ],
)
def test_nonsense_on_the_connection_is_refused(child: Child, raw: bytes, why: str) -> None:
    with pytest.raises(Refused, match=why):
        ask(child, "write_raw", raw=raw.hex())


def test_an_answer_given_in_advance_is_refused(child: Child) -> None:
    assert ask(child, "answer_twice", number=1) == {"forged": True}  # its word against its own
    with pytest.raises(Refused, match="an answer to no question"):
        ask(child, "double")


def test_code_that_ends_the_graders_process_is_refused(zygote: Zygote, child: Child) -> None:
    with pytest.raises(Refused, match="the code ended a process of the grader"):
        ask(child, "kill_monitor")
    with zygote.child(LIMITS, handlers=HANDLERS) as another:
        assert ask(another, "double") == {}


def test_a_zygote_that_has_died_is_started_again(zygote: Zygote) -> None:
    process_of(zygote).kill()
    with zygote.child(LIMITS, handlers=HANDLERS) as child:
        assert ask(child, "double") == {}


def test_a_child_of_a_dead_zygote_leaves_the_next_one_alone(zygote: Zygote) -> None:
    with zygote.child(LIMITS, handlers=HANDLERS) as old:
        process_of(zygote).kill()
        with zygote.child(LIMITS, handlers=HANDLERS) as new:
            with pytest.raises(SubmissionError):
                ask(old, "double")
            assert ask(new, "double") == {}


def test_children_of_one_zygote_can_live_side_by_side(zygote: Zygote, child: Child) -> None:
    with zygote.child(LIMITS, handlers=HANDLERS) as other:
        with pytest.raises(Crashed):
            ask(child, "kill_self")
        assert ask(other, "double") == {}


def test_handlers_that_do_not_exist_are_the_harnesss_fault(zygote: Zygote) -> None:
    with pytest.raises(RuntimeError, match="No module named 'nowhere'"):
        zygote.child(LIMITS, handlers="nowhere:HANDLERS")


def test_another_torch_in_the_child_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    other = importlib.machinery.ModuleSpec("torch", None, origin="/elsewhere/torch/__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: other)
    with Zygote() as zygote, pytest.raises(RuntimeError, match=r"while this process has .*/elsewhere/torch"):
        zygote.child()


def test_a_system_that_cannot_fork_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(RuntimeError, match="forked processes, which Windows lacks"):
        Zygote().start()


_PARENT = """
import json, os, signal, sys
import psutil
from vitcheck.submissions.host.process import Zygote
assert "torch" not in sys.modules
with Zygote() as zygote:
    child = zygote.child(handlers="hostile:HANDLERS")
    child.request({"request": "daemon"})
    print(json.dumps([one.pid for one in psutil.Process().children(recursive=True)]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _PARENT], env=environment, stdout=subprocess.PIPE, check=False
    )
    pids = json.loads(done.stdout)
    deadline = time.monotonic() + 5
    while any(is_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(pids) == 4  # zygote, monitor, child, daemon
    assert not any(is_alive(pid) for pid in pids)
