"""What of the grader's own a submission's process can reach: nothing, on whatever way."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from locked_in import HANDLERS, evaluate
from test_isolation import OF_NAMESPACES, found

from vitcheck.reference import vit
from vitcheck.submissions.host.conversation import Child
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.limits import Limits
from vitcheck.submissions.sandbox.own_files import hidden, without

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only")

KEY = os.path.realpath(vit.__file__)
BASE = Path(__file__).parents[1] / "bases" / "report.py"
FOLDER, NAME = os.path.split(KEY)

WAYS = {
    "by a name that is text": "open({key!r}).read()",
    "by a name of bytes": "open({key!r}.encode(), 'rb').read()",
    "by os.open": "os.read(os.open({key!r}, os.O_RDONLY), 9)",
    "from the folder that it lies in": "os.open({name!r}, 0, dir_fd=os.open({folder!r}, os.O_PATH))",
    "after going there": "os.chdir({folder!r}); open({name!r}).read()",
    "by the C library": "libc.open({key!r}.encode(), 0) >= 0 or refused()",
    "by a system call": "libc.syscall(257, -100, {key!r}.encode(), 0) >= 0 or refused()",
    "by a link": "os.symlink({key!r}, 'link'); open('link').read()",
    "by a second name": "os.link({key!r}, 'second'); open('second').read()",
    "as a tensor": "torch.from_file({key!r}, size=9, dtype=torch.uint8)",
    "as an array": "numpy.memmap({key!r})",
    "by another program": "subprocess.check_call(['cat', {key!r}])",
    "by another Python": "subprocess.check_call([sys.executable, '-c', 'import vitcheck.reference.vit'])",
    "by the cache of lines": "linecache.getlines({key!r})[0]",
    "as data of a package": "pkgutil.get_data('vitcheck.reference', 'vit.py')",
    "as a resource": "importlib.resources.files('vitcheck.reference').joinpath('vit.py').read_bytes()",
    "by its loader": "importlib.util.find_spec('vitcheck.reference.vit').loader.get_data({key!r})",
    "by a loader of one's own": "importlib.machinery.SourceFileLoader('mine', {key!r}).load_module()",
    "compiled": "open(importlib.util.cache_from_source({key!r}).encode(), 'rb').read()",
    "in the processes' tables": "[one for one in open('/proc/self/maps')]",
    "among the open files": "os.listdir('/proc/self/fd')[0]",
    "through the interpreter's folders": "next(one for one in pathlib.Path(sys.prefix).rglob('vit.py')"
    " if 'vitcheck' in str(one)).read_bytes()",
    "a program of the tests": "open({base!r}.encode()).read()",
    "among the modules": "sys.modules['vitcheck.reference.vit']",
    "a model of ours among the modules": "sys.modules['vitcheck.submissions.child.sample_models']",
    "among all that is in memory": "[one for one in gc.get_objects() if isinstance(one, type)"
    " and issubclass(one, torch.nn.Module) and one.__module__.startswith('vitcheck')][0]",
}
_SPY = """
import ctypes, gc, importlib.machinery, importlib.resources, importlib.util, linecache, os, pathlib, pkgutil
import subprocess, sys, numpy, torch, warnings
libc = ctypes.CDLL(None, use_errno=True)
def refused():
    raise PermissionError
warnings.simplefilter("ignore")
_STOPS = (OSError, ImportError, LookupError, RuntimeError, AttributeError, StopIteration)
_STOPS += (subprocess.SubprocessError,)
value = {}
for name, way in ways.items():
    try:
        exec(way)
        value[name] = "reached"
    except _STOPS:
        pass
"""


@pytest.fixture(params=["everything", "no bubblewrap", "no namespaces", "a bubblewrap each", "no Landlock"])
def child(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    path = str(Path(__file__).parent)
    if request.param == "no Landlock":
        (tmp_path / "landlockpy.py").write_text("raise ImportError(name='landlockpy')")
        tmp_path.chmod(0o755)  # root's submissions are another user's
        path = f"{tmp_path}{os.pathsep}{path}"
    monkeypatch.setenv("PYTHONPATH", path)
    if request.param in ("no bubblewrap", "no namespaces"):
        monkeypatch.setenv("PATH", "/nowhere")
    sandbox = found()
    if request.param in ("no namespaces", "a bubblewrap each"):
        kept = tuple(one for one in sandbox.inner if one not in OF_NAMESPACES)
        sandbox = replace(sandbox, namespaces=False, inner=kept)
    if "no answer key" not in sandbox.layers:
        pytest.skip(str(dict(sandbox.missing)))
    with Zygote((), sandbox) as zygote, zygote.child(Limits(), handlers=HANDLERS) as child:
        yield child


def test_no_way_leads_to_the_answer_key(child: Child) -> None:
    words = {"key": KEY, "folder": FOLDER, "name": NAME, "base": str(BASE)}
    ways = {name: way.format(**words) for name, way in WAYS.items()}
    assert evaluate(child, f"ways = {ways!r}\n{_SPY}") == {}


def test_the_ways_lead_there_where_nothing_stops_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    with Zygote() as zygote, zygote.child(Limits(), handlers=HANDLERS) as child:
        folder = f"os.open({FOLDER!r}, os.O_RDONLY)"
        ways = {"by its folder": f"os.read(os.open({NAME!r}, os.O_RDONLY, dir_fd={folder}), 9)"}
        assert evaluate(child, f"ways = {ways!r}\n{_SPY}") == dict.fromkeys(ways, "reached")


def test_all_beside_the_graders_packages_is_its_own_but_for_libraries(tmp_path: Path) -> None:
    for folder in ("repository/checks", "repository/reference", "repository/tests", "repository/venv/lib"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "way").symlink_to(tmp_path / "repository")
    own = [[str(tmp_path / "repository" / one) for one in ("checks", "reference")]]
    found = hidden(own, [str(tmp_path / "way" / "venv")], [str(tmp_path / "way")])
    names = {"checks", "reference", "tests"}
    assert set(found) == {str(tmp_path / way / one) for way in ("repository", "way") for one in names}


def test_another_copy_of_it_is_hidden_too(tmp_path: Path) -> None:
    copy = tmp_path / "lib" / "python3.12" / "site-packages" / "vitcheck"
    copy.mkdir(parents=True)
    assert hidden([], [], [str(tmp_path)]) == [str(copy)]


def test_what_is_left_of_a_folder_is_all_that_is_not_hidden(tmp_path: Path) -> None:
    for folder in ("lib/packages/torch", "lib/packages/vitcheck", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    pieces = dict(without(str(tmp_path), [str(tmp_path / "lib/packages/vitcheck")]))
    listed = dict.fromkeys(("", "lib", "lib/packages"), False)
    assert pieces == {
        str(tmp_path / one): whole
        for one, whole in (listed | {"bin": True, "lib/packages/torch": True}).items()
    }
