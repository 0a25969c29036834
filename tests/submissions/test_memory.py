"""Memory that processes hold together is counted, wherever it lies, and what stays of it is cleared."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import torch
from locked_in import HANDLERS, LIMITS, evaluate
from test_isolation import found, refusing_namespaces

from vitcheck.submissions.errors import OutOfMemory
from vitcheck.submissions.host.control_group import open_group
from vitcheck.submissions.host.memory import MemoryWatch
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.host.shared_memory import FOLDER, SharedMemory
from vitcheck.submissions.limits import Limits

linux = pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only")
SMALL = replace(LIMITS, memory_bytes=32 << 20)


@contextmanager
def holding(source: str) -> Iterator[psutil.Process]:
    """A process that has run ``source``, and waits."""
    command = [sys.executable, "-c", f"import os\n{source}\nprint(flush=True)\ninput()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield psutil.Process(process.pid)
        process.kill()


FILES = {
    "without a name": "one = os.memfd_create('x')\nos.write(one, bytes(64 << 20))",
    "whose name is gone": "one = os.open('/dev/shm/vitcheck-test', os.O_CREAT | os.O_RDWR)\n"
    "os.unlink('/dev/shm/vitcheck-test')\nos.write(one, bytes(64 << 20))",
}


@linux
@pytest.mark.parametrize("kind", FILES)
def test_files_in_memory_count(kind: str) -> None:
    with holding("") as empty, holding(FILES[kind]) as one:
        watch = MemoryWatch(SMALL)
        watch.begin([empty, empty])  # whose pages the other has of its own, too
        assert not watch.is_over([empty])
        assert watch.is_over([one])


@linux
def test_what_is_new_in_shared_memory_counts_and_is_cleared(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    watch = MemoryWatch(SMALL, SharedMemory(str(tmp_path)))
    assert not watch.is_over([])
    (tmp_path / "left").write_bytes(bytes(33 << 20))
    assert watch.is_over([])
    with (tmp_path / "anothers").open("w"):
        watch.end()
    assert {one.name for one in tmp_path.iterdir()} == {"mine", "anothers"}


@linux
def test_nothing_stays_in_shared_memory_where_submissions_have_none_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setenv("PATH", "/nowhere")
    before = set(os.listdir(FOLDER))
    with Zygote((), refusing_namespaces(found())) as zygote:
        with zygote.child(LIMITS, handlers=HANDLERS) as child:
            name = f"{FOLDER}/vitcheck-test"
            assert evaluate(child, f"open({name!r}, 'w').write('for the next')") is None
            assert Path(name).exists()
        assert not set(os.listdir(FOLDER)) - before
        full = f"for n in range(8):\n    open(f'{FOLDER}/vitcheck-test{{n}}', 'wb').write(bytes(60 << 20))"
        with zygote.child(SMALL, handlers=HANDLERS) as child, pytest.raises(OutOfMemory):
            evaluate(child, f"{full}\nimport time\ntime.sleep(99)")
    assert not set(os.listdir(FOLDER)) - before


def groups(root: Path, **files: str) -> Path:
    """A tree of control groups as the kernel shows one, with this process in it."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    own = root / next(line for line in lines if line.startswith("0::/")).removeprefix("0::/")
    own.mkdir(parents=True, exist_ok=True)
    for name, text in {"cgroup.subtree_control": "cpu memory pids\n", "cgroup.procs": "", **files}.items():
        (own / name).write_text(text)
    return own


@linux
def test_a_group_is_made_where_groups_are_given_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = groups(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    group = open_group(Limits(memory_bytes=1 << 20, processes=7), [11], tmp_path)
    assert group is not None
    (made,) = [one for one in own.iterdir() if one.name.startswith("vitcheck-")]
    told = {name: (made / name).read_text() for name in ("memory.max", "pids.max", "cgroup.procs")}
    assert told == {"memory.max": str(1 << 20), "pids.max": "7", "cgroup.procs": "11"}
    (made / "memory.events").write_text("low 0\noom_kill 0\n")
    assert not group.ran_out
    (made / "memory.events").write_text("low 0\noom_kill 2\n")
    assert group.ran_out


WITHOUT: dict[str, Callable[[Path], object]] = {
    "no such hierarchy": lambda root: None,
    "memory is not given on": lambda root: groups(root, **{"cgroup.subtree_control": "cpu\n"}),
}


@linux
@pytest.mark.parametrize("why", WITHOUT)
def test_there_is_none_elsewhere(why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WITHOUT[why](tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    assert open_group(Limits(), [], tmp_path) is None


@linux
def test_root_makes_none_where_the_system_has_not_given_it_away(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root could")
    groups(tmp_path)
    assert open_group(Limits(), [], tmp_path) is None


@linux
def test_what_large_answers_leave_in_circles_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass of a model as large as ViT-B leaves hundreds of megabytes, and few objects."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    leaves = "import torch\nheld = [torch.ones(64 << 20)]\nheld.append(held)\nvalue = held[0][: 8 << 20]"
    roomy = replace(LIMITS, memory_bytes=2 << 30)
    with Zygote(()) as zygote, zygote.child(roomy, handlers=HANDLERS) as child:
        for _ in range(12):
            value = evaluate(child, leaves)
            assert isinstance(value, torch.Tensor), value
