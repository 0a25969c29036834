"""The documentation is built without a warning, and every command in it does what it is there for."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from click_man.shell import cli as click_man
from filled import filled
from forked import forked, outside
from gpt_package import PACKAGE, installed
from PIL import Image
from small_assignment import write_small_assignment

from vitcheck.__main__ import main
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.tools.course.skeleton import skeleton

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "submissions" / "examples"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MANUAL = ROOT / "docs" / "man"
ROSTER = """\
Student,ID,SIS User ID,SIS Login ID,Section,Homework 3 (77)
    Points Possible,,,,,100
Smith Ann,1234,,ann,A,
"""
OWN_CHECK = "def test_it_has_examples(examination):\n    assert examination.examples\n"


def commands(page: Path) -> list[str]:
    """The lines of all blocks that are marked as ``sh``: those that a reader may type as they stand."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith("#")]


WITH_COMMANDS = [page for page in PAGES if commands(page)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder as the pages assume it: a student's work, a class, a picture, checks of one's own."""
    shutil.copy(EXAMPLES / "scale_by_width.py", tmp_path / "vit_transformer.py")
    (tmp_path / "submissions").mkdir()
    shutil.copy(EXAMPLES / "prenorm_conv.py", tmp_path / "submissions" / "ann.py")
    shutil.copy(EXAMPLES / "syntax_error.py", tmp_path / "submissions" / "bob.py")
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as batch:  # as Canvas names what it gives out
        batch.write(EXAMPLES / "prenorm_conv.py", "smithann_1234_5678_vit.py")
    (tmp_path / "roster.csv").write_text(ROSTER)
    shutil.copy(EXAMPLES / "notebook.ipynb", tmp_path / "hw3.ipynb")
    Image.linear_gradient("L").convert("RGB").save(tmp_path / "cat.jpg")
    shutil.copytree(PACKAGE / "submissions", tmp_path / "docs" / "gpt" / "submissions")
    shutil.copy(write_small_assignment(tmp_path), tmp_path / "week3.toml")
    # of single parts: in the reference of a whole model, `vitcheck validate` plants every known mistake
    shutil.copy(ROOT / "checks" / "assignments" / "vit-basics.toml", tmp_path / "assignment.toml")
    right = filled("vit-basics", skeleton(load_assignment("vit-basics")))
    (tmp_path / "solution" / "wrong").mkdir(parents=True)
    (tmp_path / "solution" / "vit_transformer.py").write_text(right)
    wrong = right.replace("eq.attention_scores(output[0], output[1])", "output[0] @ output[1].mT")
    (tmp_path / "solution" / "wrong" / "scale-missing.py").write_text(wrong)
    (tmp_path / "skeleton.py").write_text("import torch\n")
    (tmp_path / "own-checks").mkdir()
    (tmp_path / "own-checks" / "test_own.py").write_text(OWN_CHECK)
    return tmp_path


@pytest.fixture(scope="module")
def gpt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package of docs/gpt is installed, which one page is about."""
    return installed(tmp_path_factory.mktemp("gpt"))


def words(command: str) -> list[str]:
    """As a shell reads them; at small sizes, unless the command asks for an assignment behind that.

    What selects checks or spreads them does so alone: ``tests/cli/test_pytest_plugin.py`` runs such commands.
    """
    small = re.sub(r"^(vitcheck (?:check|grade|snapshot|trace)) ", r"\1 --assignment small.toml ", command)
    selects = re.match(r"pytest .*( -[kmn] |::)", command)
    return [*shlex.split(small, comments=True), *(["--collect-only"] if selects else [])]


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Commands that other pages show as well, and whose files no other command of a page needs."""
    return set()


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_every_command_of_a_page_runs(page: Path, place: Path, gpt: Path, known: set[str]) -> None:
    environment = {**outside(), "PYTHONPATH": str(gpt), "PYTEST_ADDOPTS": "--vit-assignment small.toml"}
    for command in commands(page):
        asked = words(command)
        if shlex.join(asked) in known:
            continue
        ran = forked(asked, place, environment)
        said = f"{command}\n{ran.stdout}\n{ran.stderr}"
        # 1: something is wrong in the student's file, as it is meant to be
        assert ran.returncode in (0, 1), said
        assert "Traceback" not in ran.stderr, said
        if asked[1] in ("check", "explain", "snapshot", "trace"):
            known.add(shlex.join(asked))


def test_most_pages_for_users_show_commands() -> None:
    assert {"students", "instructors", "administrators", "judging"} <= {page.stem for page in WITH_COMMANDS}


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(ROOT / "docs"), str(tmp_path)]
    built = subprocess.run(build, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    text = (tmp_path / "commands.html").read_text("utf-8")
    assert [name for name in main.commands if f'id="vitcheck-{name}"' not in text] == []


@pytest.mark.filterwarnings("ignore:'click.utils.make_default_short_help'")  # which click-man asks
def test_the_manual_pages_are_those_of_the_commands(tmp_path: Path) -> None:
    # made by: click-man vitcheck --target docs/man --man-date 2026-01-01
    made = CliRunner().invoke(click_man, ["vitcheck", "--target", str(tmp_path), "--man-date", "2026-01-01"])
    assert made.exit_code == 0, made.output
    now = {page.name: page.read_text("utf-8") for page in tmp_path.iterdir()}
    assert now == {page.name: page.read_text("utf-8") for page in MANUAL.iterdir()}


def test_a_shell_completes_commands_and_options() -> None:
    def completed(words: str, position: int) -> str:
        asked = {"_VITCHECK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(position)}
        return (
            CliRunner(env=asked).invoke(main, prog_name="vitcheck", complete_var="_VITCHECK_COMPLETE").output
        )

    assert "plain,grade" in completed("vitcheck gr", 1)
    assert "plain,--assignment" in completed("vitcheck grade --as", 2)
    assert "plain,vit-basics" in completed("vitcheck grade --assignment vit-b", 3)
