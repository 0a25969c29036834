"""``vitcheck grade --engine``: what cannot be is said before anything is graded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from vitcheck.__main__ import main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "dask"], "--engine dask needs --scheduler ADDRESS, such as tcp://"),
        (["--scheduler", "tcp://127.0.0.1:1"], "--scheduler is for a cluster: add --engine dask"),
        (
            ["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2"],
            "--jobs is for --engine local",
        ),
    ],
)
def test_options_that_do_not_go_together_are_named(tmp_path: Path, options: list[str], message: str) -> None:
    (tmp_path / "ann.py").write_text("x = 1\n")
    run = CliRunner().invoke(main, ["grade", str(tmp_path), "--out", str(tmp_path / "out"), *options])
    assert (run.exit_code, message in run.output) == (2, True)


def test_a_cluster_grades_a_class(tmp_path: Path, cluster: str) -> None:
    (tmp_path / "in").mkdir()
    for name in ("ann", "bob", "cy"):
        (tmp_path / "in" / f"{name}.py").write_text("def forward(x:\n")
    command = [sys.executable, "-m", "vitcheck", "grade", "in", "--engine", "dask", "--scheduler", cluster]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    for name in ("ann", "bob", "cy"):
        assert '"not_loaded"' in (tmp_path / "grades" / name / "result.json").read_text()


def test_a_cluster_that_is_not_there_is_a_message_and_not_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "ann.py").write_text("x = 1\n")
    command = [sys.executable, "-m", "vitcheck", "grade", "ann.py", "--engine", "dask", "--scheduler", "here"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 3
    assert run.stderr.startswith("no Dask scheduler can be reached at here: missing port number")
