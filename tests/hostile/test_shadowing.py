"""Files of a student's that are called as what the grader is made of: none is run where the grader starts.

Each leaves a mark when anything runs it outside the sandbox.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from workflow_runner import ROOT, Runner, run

from vitcheck.__main__ import main
from vitcheck.checks.assignment import assignment

EXAMPLES = ROOT / "submissions" / "examples"
JOB = ROOT / "docs" / "gitlab" / "vitcheck.gitlab-ci.yml"
MODULES = (
    *("vitcheck.py", "click.py", "typing.py", "random.py", "numpy.py", "venv.py", "subprocess.py"),
    *("torch/__init__.py", "pip/__init__.py", "pip/__main__.py", "setuptools/__init__.py", "__future__.py"),
    *("sitecustomize.py", "usercustomize.py", "conftest.py", "setup.py"),
)
SETTINGS = {
    "pytest.ini": "[pytest]\naddopts = -p conftest\n",
    "tox.ini": "[pytest]\naddopts = -p conftest\n",
    "pip.conf": "[global]\nindex-url = http://127.0.0.1:9/\n",
    "beside.pth": "import conftest\n",
    "beside-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: beside\nVersion: 1\n",
    "beside-1.dist-info/entry_points.txt": "[pytest11]\nbeside = conftest\n",
    "vit-debugging": 'name = "easy"\n',
}


def beside(folder: Path, *, without: str = "") -> Path:
    """Put them into ``folder``; return where they leave their mark."""
    mark = folder.parent / "mark"
    for name in MODULES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name != without:
            (folder / name).write_text(f"open({str(mark)!r}, 'a').write({name!r} + ' ')\n")
    for name, text in SETTINGS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return mark


def python(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_the_cell_of_a_notebook_grader_asks_vitcheck_itself(work: Path) -> None:
    shutil.copy(EXAMPLES / "syntax_error.py", work / "hw3.py")
    mark = beside(work)
    code = (
        "import os, sys; sys.path.remove(''); from vitcheck.apart import earned\n"
        "os.environ['PYTHONPATH'] = '.'; print(earned('hw3.py', 20))"
    )
    done = python("-c", code, folder=work)
    assert (done.stdout, mark.exists()) == ("0.0\n", False), done.stderr


def test_the_test_file_for_otter_asks_vitcheck_itself(work: Path) -> None:
    shutil.copy(EXAMPLES / "syntax_error.py", work / "hw3.py")
    CliRunner().invoke(main, ["otter", "hw3.py", "--out", str(work / "tests.txt")])
    (work / "otter").mkdir()
    for name in ("__init__", "test_files"):
        (work / "otter" / f"{name}.py").write_text("test_case = lambda **of: lambda test: test\n")
    mark = beside(work, without="subprocess.py")
    (work / "typing.py").unlink()  # before Otter looks for its own
    code = "exec(open('tests.txt').read()); print(cases.__code__.co_filename)"
    done = python("-c", code, folder=work)
    assert (Path(done.stdout.strip()).name, mark.exists()) == ("apart.py", False), done.stderr


def test_the_package_that_is_run_as_a_module_imports_nothing_from_beside(work: Path) -> None:
    mark = beside(work, without="vitcheck.py")
    done = python("-m", "vitcheck", "stages", folder=work)
    assert (done.returncode, mark.exists()) == (0, False), done.stderr


def test_no_library_of_a_driver_is_looked_for_beside_the_work(work: Path) -> None:
    """Those of CUDA that come with torch ask for it, and find it in the working folder, too."""
    (library,) = {line.split()[-1] for line in maps() if "libm.so" in line}
    shutil.copy(library, work / "libcuda.so.1")
    shutil.copy(EXAMPLES / "scale_by_width.py", work / "hw3.py")
    code = (
        "from vitcheck.__main__ import main\n"
        "main(['check', 'hw3.py', '--json', 'result.json'], standalone_mode=False)"
    )
    code = f"import atexit; atexit.register(lambda: print(open('/proc/self/maps').read()))\n{code}"
    done = python("-c", code, folder=work)
    assert "\nS12 Attention scores · " in done.stdout, done.stderr
    assert str(work) not in done.stdout.replace(f"{work}/hw3.py", "")
    assert {one.name for one in work.iterdir()} == {"libcuda.so.1", "hw3.py", "result.json"}


def maps() -> list[str]:
    return Path("/proc/self/maps").read_text().splitlines()


def wheel(folder: Path) -> Path:
    """A package that needs nothing, in the place of ours."""
    made = folder / "nothing-1-py3-none-any.whl"
    about = "nothing-1.dist-info"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: nothing\nVersion: 1\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return made


def jobs_settings(workspace: Path) -> Mapping[str, str]:
    """What a course may set for its own tests."""
    return {"PYTHONPATH": str(workspace), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def test_the_action_runs_nothing_at_the_top_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(tmp_path, "syntax_error.py", wheel(tmp_path), file="hw3/syntax_error.py")
    mark = beside(tmp_path / "workspace")
    for name, value in jobs_settings(tmp_path / "workspace").items():
        monkeypatch.setenv(name, value)
    installed = runner.step("Install vitcheck")
    assert (installed.returncode, mark.exists()) == (0, False), installed.stderr
    runner.put_vitcheck_in_place()
    for name in ("Grade", "Report"):
        done = runner.step(name)
        assert (done.returncode, mark.exists()) == (0, False), done.stderr
    assert runner.outputs()["score"] == "0"
    assert runner.outputs()["possible"] == "100"


def test_the_job_of_gitlab_runs_nothing_of_the_repository(work: Path) -> None:
    job = yaml.safe_load(JOB.read_text())["vitcheck"]
    shutil.copy(EXAMPLES / "syntax_error.py", work / "hw3.py")
    mark = beside(work)
    theirs = work.parent / "outside"
    theirs.write_text("as it was")
    for report in ("vitcheck.html", "vitcheck.json", "vitcheck-junit.xml", "vitcheck-code-quality.json"):
        (work / report).symlink_to(theirs)
    variables = jobs_settings(work) | job["variables"]
    variables |= {"VITCHECK_FILE": "hw3.py", "VITCHECK_REQUIREMENT": str(wheel(work.parent))}
    variables["PIP_TARGET"] = str(work.parent / "target")
    done = run("\n".join([*job["before_script"], *job["script"]]), work, **variables)
    assert (done.returncode, mark.exists()) == (1, False), done.stderr
    assert ("0 of 100 points" in done.stdout, theirs.read_text()) == (True, "as it was")


def test_a_file_beside_the_work_is_not_taken_for_an_assignment_of_another_package(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = work.parent / "theirs.toml"
    theirs.write_text('name = "gpt"\n')
    (work / "gpt").write_text('name = "easy"\n')
    monkeypatch.chdir(work)
    monkeypatch.setattr(assignment, "_shipped", lambda: ({"gpt": theirs}, []))
    assert assignment.assignment_text("gpt") == 'name = "gpt"\n'
    assert assignment.assignment_text("./gpt") == 'name = "easy"\n'
