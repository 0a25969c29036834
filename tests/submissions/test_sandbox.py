"""What a submission can do inside the sandbox, and what it cannot."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from locked_in import HANDLERS, LIMITS, evaluate

from vitcheck.submissions.host.conversation import Child
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.limits import Limits


@pytest.fixture
def child(locked_zygote: Zygote) -> Iterator[Child]:
    with locked_zygote.child(LIMITS, handlers=HANDLERS) as child:
        yield child


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"])
def test_no_socket_leads_outside(child: Child, family: str) -> None:
    if not hasattr(socket, family):
        pytest.skip(f"this system has no {family}")
    kinds = "socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW"
    source = f"""
import socket
value = []
for kind in ({kinds}):
    try:
        value.append(str(socket.socket(socket.{family}, kind)))
    except PermissionError:
        value.append("refused")
"""
    assert evaluate(child, source) == ["refused"] * 3


def test_a_server_on_this_machine_is_out_of_reach(child: Child) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = f"import socket\nsocket.create_connection({server.getsockname()!r}, 1)"
        assert evaluate(child, source) == "PermissionError"


CALLS = {  # of x86-64, with arguments under which an ordinary process would see another answer
    "mount": (165, (0, 0, 0, 0, 0), "EPERM"),
    "unshare": (272, (0,), "EPERM"),
    "setns": (308, (-1, 0), "EPERM"),
    "ptrace": (101, (0, 0, 0, 0), "EPERM"),
    "keyctl": (250, (0, -3, 0, 0, 0), "EPERM"),
    "bpf": (321, (-1, 0, 0), "EPERM"),
    "perf_event_open": (298, (0, 0, -1, -1, 0), "EPERM"),
    "userfaultfd": (323, (-1,), "EPERM"),
    "process_vm_readv": (310, (1, 0, 0, 0, 0, 0), "EPERM"),
    "shmget": (29, (0, 4096, 0o1600), "EPERM"),
    "memfd_create": (319, (b"x", 0), "ENOSYS"),
    "memfd_secret": (447, (0,), "EPERM"),
    "mq_open": (240, (b"x", 0o102, 0o600, 0), "EPERM"),
    "inotify_init1": (294, (0,), "EPERM"),
    "memory out of the pool of huge pages": (9, (0, 1 << 21, 3, 0x40022, -1, 0), "ENOMEM"),
    "a lease on a file": (72, (0, 1024, 0), "EPERM"),
    "a larger pipe": (72, (0, 1031, 1 << 20), "EPERM"),
    "flags of a file": (16, (0, 0x40086602, 0), "EPERM"),
    "clone into a new user namespace": (56, (0x10000000 | 17, 0, 0, 0, 0), "EPERM"),
    "limits of another process": (302, (1, 7, 0, 0), "EPERM"),
    "clone3": (435, (0, 0), "ENOSYS"),
    "io_uring_setup": (425, (1, 0), "ENOSYS"),
    "x32 ptrace": (0x40000000 | 521, (0, 0, 0, 0), "ENOSYS"),
    "x32 unshare": (0x40000000 | 272, (0,), "ENOSYS"),
    "x32 memfd_create": (0x40000000 | 319, (b"x", 0), "ENOSYS"),
    "x32 socket": (0x40000000 | 41, (2, 1, 0), "ENOSYS"),
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86-64")
@pytest.mark.parametrize("call", CALLS)
def test_the_kernel_refuses_calls_that_no_submission_needs(child: Child, call: str) -> None:
    number, arguments, refusal = CALLS[call]
    source = f"""
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
value = [libc.syscall({number}, *{arguments}), errno.errorcode.get(ctypes.get_errno())]
"""
    assert evaluate(child, source) == [-1, refusal]


def test_files_outside_do_not_exist(child: Child, tmp_path: Path) -> None:
    theirs = tmp_path / "another_submission.py"
    theirs.write_text("answer = 42")
    for path in ("/etc/passwd", "/etc/hostname", str(theirs), os.path.expanduser("~/.ssh"), __file__ + "c"):
        assert evaluate(child, f"import os\nos.stat({path!r})") == "FileNotFoundError"


def test_folders_tell_nothing(child: Child) -> None:
    for folder in ("/", "/proc", "/dev"):
        assert evaluate(child, f"import os\nos.listdir({folder!r})") == "PermissionError"
    hidden = evaluate(child, "import os\nos.listdir('/tmp')")
    assert hidden in ("PermissionError", "FileNotFoundError")  # it is there where Python lies below it


def test_what_it_runs_on_cannot_be_changed(child: Child) -> None:
    for path in ("sys.prefix + '/new'", "os.__file__", "torch.__file__", "'/new'", "'/dev/new'"):
        source = f"import os, sys, torch\ntry: open({path}, 'w')\nexcept OSError: value = 'refused'"
        assert evaluate(child, source) == "refused"


def test_the_parents_environment_is_not_passed_on(child: Child) -> None:
    environment = evaluate(child, "import os\nvalue = dict(os.environ)")
    assert "PYTEST_CURRENT_TEST" in os.environ
    assert not {"PYTEST_CURRENT_TEST", "PYTHONPATH", "USER"} & set(environment)
    assert environment["HOME"] == environment["TMPDIR"] == evaluate(child, "import os\nvalue = os.getcwd()")


def test_only_its_own_processes_can_be_seen_or_signalled(locked_zygote: Zygote, child: Child) -> None:
    source = """
import os
value = []
for number in range(1, 70_000):
    try:
        os.kill(number, 0)
        value.append(number)
    except ProcessLookupError:
        pass
    except PermissionError:
        value.append(-number)
"""
    for one in (child, locked_zygote.child(LIMITS, handlers=HANDLERS)):
        with one:
            assert evaluate(one, source) in ([-1, 2], [1, 2])  # the grader's beside it, and itself


def test_the_graders_process_beside_it_cannot_be_ended(child: Child) -> None:
    source = """
import os, signal
from contextlib import suppress
for number in signal.valid_signals():
    with suppress(PermissionError):
        os.kill(1, number)
"""
    assert evaluate(child, source) is None
    assert evaluate(child, "value = 'still here'") == "still here"


def test_no_child_finds_what_another_has_left(locked_zygote: Zygote) -> None:
    leave = "open('left', 'w').write('hello')\nopen('/dev/shm/left', 'w').write('hello')\nimport os\n"
    look = "value = [*os.listdir('.'), *os.listdir('/dev/shm')]"
    with (
        locked_zygote.child(LIMITS, handlers=HANDLERS) as one,
        locked_zygote.child(LIMITS, handlers=HANDLERS) as two,
    ):
        assert evaluate(one, leave + look) == ["left", "left"]
        assert evaluate(two, "import os\n" + look) == []
    with locked_zygote.child(LIMITS, handlers=HANDLERS) as three:
        assert evaluate(three, "import os\n" + look) == []


WORKS = {
    "loading data in other processes": (
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
        "data = TensorDataset(torch.arange(16.0))\n"
        "value = [len(one[0]) for one in DataLoader(data, batch_size=4, num_workers=2)]",
        [4, 4, 4, 4],
    ),
    "a pool of processes": (
        "import multiprocessing\nwith multiprocessing.Pool(2) as pool:\n    value = pool.map(abs, [-1, 2])",
        [1, 2],
    ),
    "a pool of processes that are started anew": (
        "import multiprocessing\nwith multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "    value = pool.map(abs, [-1, 2])",
        [1, 2],
    ),
    "memory that processes share": (
        "from multiprocessing import shared_memory\none = shared_memory.SharedMemory(create=True, size=8)\n"
        "one.buf[0] = 7\nother = shared_memory.SharedMemory(one.name)\nvalue = other.buf[0]\none.unlink()",
        7,
    ),
    "locks on files": (
        "import fcntl, sqlite3\nwith open('one', 'w') as file:\n    fcntl.flock(file, fcntl.LOCK_EX)\n"
        "    fcntl.lockf(file, fcntl.LOCK_EX)\nbase = sqlite3.connect('base')\n"
        "base.execute('create table one (n)')\nbase.execute('insert into one values (3)')\nbase.commit()\n"
        "value = base.execute('select n from one').fetchone()[0]",
        3,
    ),
    "threads": (
        "import threading\nvalue = []\nfor n in range(5):\n"
        "    one = threading.Thread(target=value.append, args=(n,)); one.start(); one.join()",
        [0, 1, 2, 3, 4],
    ),
    "more threads in torch": (
        "import torch\ntorch.set_num_threads(2)\nx = torch.ones(300, 300, requires_grad=True)\n"
        "(x @ x).sum().backward()\nvalue = float(x.grad[0, 0])",
        600.0,
    ),
    "temporary files": (
        "import tempfile\nwith tempfile.TemporaryFile() as file:\n    value = file.write(b'hello')",
        5,
    ),
    "another program": (
        "import subprocess\nvalue = subprocess.check_output(['echo', 'hello'], text=True)",
        "hello\n",
    ),
    "another Python": (
        "import subprocess, sys\n"
        "value = subprocess.check_output([sys.executable, '-c', 'print(6 * 7)'], text=True)",
        "42\n",
    ),
    "a package that was not imported before": (
        "import xml.dom.minidom as one\nvalue = one.__name__",
        "xml.dom.minidom",
    ),
    "asking who it is": ("import getpass\nvalue = getpass.getuser()", "submission"),
}


@pytest.mark.parametrize("what", WORKS)
def test_ordinary_work_goes_on(locked_zygote: Zygote, what: str) -> None:
    source, value = WORKS[what]
    with locked_zygote.child(Limits(), handlers=HANDLERS) as child:
        assert evaluate(child, source) == value
        assert child.printed == ""


def test_matrix_products_and_gradients_do_not_hang_after_the_fork(locked_zygote: Zygote) -> None:
    for _ in range(10):
        with locked_zygote.child(LIMITS, handlers=HANDLERS) as child:
            assert child.request({"request": "train"}) == {"shape": [64, 64]}
