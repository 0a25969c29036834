"""What there is on a machine, and what is made of it: every level, and the refusal to do with less."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from locked_in import HANDLERS, LIMITS, evaluate, living

from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.sandbox.isolation import Isolation, IsolationError, Sandbox, open_sandbox
from vitcheck.submissions.sandbox.paths import find_paths

linux = pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only")
OF_NAMESPACES = {"namespaces", "process limit", "read-only mounts", "private scratch folder", "empty /proc"}


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.fixture
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.fixture
def without_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("landlockpy", "seccompy"):
        (tmp_path / f"{name}.py").write_text(f"raise ImportError(name={name!r})")
    tmp_path.chmod(0o755)  # root's submissions are another user's
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{Path(__file__).parent}")


def found() -> Sandbox:
    sandbox = open_sandbox(Isolation.AUTO)
    if sandbox is None:
        pytest.skip("nothing works here")
    return sandbox


def refusing_namespaces(sandbox: Sandbox) -> Sandbox:
    """As on a machine where a submission cannot have its own."""
    kept = tuple(one for one in sandbox.inner if one not in OF_NAMESPACES)
    return replace(sandbox, namespaces=False, inner=kept)


def check(sandbox: Sandbox) -> None:
    """What holds at every level that calls itself a sandbox."""
    before = living()
    with Zygote((), sandbox) as zygote:
        for _ in range(2):  # the second one finds what the first has left, if anything
            with zygote.child(LIMITS, handlers=HANDLERS) as child:
                assert child.layers == sandbox.layers
                assert evaluate(child, "import torch\nvalue = len(torch.ones(40 << 20))") == 40 << 20
                assert evaluate(child, "import socket\nsocket.socket()") == "PermissionError"
                assert evaluate(child, "open('/etc/passwd')") in ("PermissionError", "FileNotFoundError")
                assert evaluate(child, "import os\nvalue = os.listdir('.')") == []
                assert evaluate(child, "open('left', 'w').close()") is None
                loader = (
                    "import torch\nfrom torch.utils.data import DataLoader\n"
                    "value = sum(len(one) for one in DataLoader(torch.ones(4), num_workers=1))"
                )
                assert evaluate(child, loader) == 4
                child.request({"request": "daemon"})
    assert living() == before


@linux
def test_bubblewrap_without_namespaces_inside_serves_one_submission_each() -> None:
    sandbox = found()
    if not sandbox.wrapping:
        pytest.skip(str(dict(sandbox.missing)))
    check(refusing_namespaces(sandbox))


@linux
@pytest.mark.usefixtures("without_bubblewrap")
def test_namespaces_without_bubblewrap() -> None:
    sandbox = found()
    assert (sandbox.wrapping, sandbox.outer) == ((), ())
    assert ("bubblewrap", "it is not installed (apt install bubblewrap)") in sandbox.missing
    if not sandbox.namespaces:
        pytest.skip(str(dict(sandbox.missing)))
    check(sandbox)


@linux
@pytest.mark.usefixtures("without_bubblewrap")
def test_neither_bubblewrap_nor_namespaces() -> None:
    sandbox = refusing_namespaces(found())
    if "Landlock signal scope" not in sandbox.inner:
        pytest.skip(str(dict(sandbox.missing)))
    check(sandbox)


@pytest.mark.usefixtures("without_bubblewrap", "without_libraries")
def test_what_is_required_and_cannot_be_had_is_said_with_the_reasons() -> None:
    with pytest.raises(IsolationError, match=r"does not keep submissions from .*files") as raised:
        open_sandbox(Isolation.REQUIRE)
    if sys.platform == "linux":
        for why in ("apt install bubblewrap", "the package landlockpy is not installed"):
            assert why in str(raised.value)


@linux
@pytest.mark.usefixtures("without_libraries")
def test_a_missing_library_is_a_layer_that_is_not_in_force() -> None:
    sandbox = found()
    assert not any(one.startswith(("Landlock", "seccomp")) for one in sandbox.layers)
    assert dict(sandbox.missing)["seccomp"] == "the package seccompy is not installed"
    with Zygote((), sandbox) as zygote, zygote.child(LIMITS, handlers=HANDLERS) as child:
        assert child.layers == sandbox.layers


def test_other_systems_have_limits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert open_sandbox(Isolation.AUTO) is None
    with pytest.raises(IsolationError, match="on Linux only"):
        open_sandbox(Isolation.REQUIRE)


def test_nothing_is_tried_where_nothing_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", None)
    assert open_sandbox(Isolation.NONE) is None


@linux
def test_the_folder_that_the_grader_runs_in_is_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    paths = find_paths().readable
    assert any(Path(os.__file__).is_relative_to(path) for path in paths)
    assert not any(tmp_path.is_relative_to(path) for path in paths)


_USER = """
import os
from locked_in import HANDLERS, LIMITS, evaluate
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.sandbox.isolation import Isolation, open_sandbox
sandbox = open_sandbox(Isolation.REQUIRE)
with Zygote((), sandbox) as zygote, zygote.child(LIMITS, handlers=HANDLERS) as child:
    assert evaluate(child, "import os\\nvalue = os.getuid()") == os.getuid() == 4242
    assert evaluate(child, "open('/etc/passwd')") in ("PermissionError", "FileNotFoundError")
    assert child.layers == sandbox.layers
    print(*sandbox.layers, sep="\\n")
"""


def _opened(paths: list[str], stash: Path) -> list[str]:
    """Shell commands after which everyone can pass to ``paths``, in a mount namespace of their own."""
    closed = {
        path: next(one for one in reversed(Path(path).parents) if not one.stat().st_mode & 0o001)
        for path in paths
        if not all(one.stat().st_mode & 0o001 for one in Path(path).parents)
    }
    kept = {path: shlex.quote(str(stash / str(number))) for number, path in enumerate(closed)}
    return [
        *(f"mkdir {kept[path]} && mount --bind {shlex.quote(path)} {kept[path]}" for path in closed),
        *(f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(one))}" for one in set(closed.values())),
        *(
            f"mkdir -p {shlex.quote(path)} && mount --bind {kept[path]} {shlex.quote(path)}"
            for path in closed
        ),
    ]


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="all tests run as an ordinary user already")
def test_an_ordinary_user_has_the_same(tmp_path: Path) -> None:
    everything = found()
    become = "exec setpriv --reuid=4242 --regid=4242 --clear-groups"
    program = shlex.join([sys.executable, "-c", _USER])
    script = "\n".join(["set -e", *_opened(find_paths().readable, tmp_path), f"{become} {program}"])
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], cwd="/", stdout=subprocess.PIPE, text=True, check=True
    )
    assert tuple(done.stdout.splitlines()) == everything.layers
