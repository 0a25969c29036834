"""``vitcheck similar``: a list for a person, on the terminal, as a page and as data."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from copies import renamed
from corpus import BASES
from test_pages import page

from vitcheck.__main__ import main

REPORT = BASES["report"].source()


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    folder = tmp_path / "class"
    folder.mkdir()
    other = next(one.source() for name, one in BASES.items() if name != "report")
    for name, text in {"ann": REPORT, "bob": renamed(REPORT), "<b>cleo": other, "empty": ""}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_the_list_says_what_it_is_and_is_no_mark(handed_in: Path, tmp_path: Path) -> None:
    out, data = tmp_path / "similar.html", tmp_path / "similar.json"
    run = CliRunner().invoke(main, ["similar", str(handed_in), "--out", str(out), "--json", str(data)])
    assert run.exit_code == 0
    assert "not compared: empty: empty.py is empty" in run.stderr
    first, last = run.stdout.splitlines()
    assert first.split()[2] == "ann"
    assert first.split()[-1] == "bob"
    assert last == (
        "1 pairs of 3 submissions share 80 % or more of one."
        " This list is for a person to review; it does not affect points."
    )
    told = json.loads(data.read_text())
    assert (told["threshold"], told["compared"]) == (0.8, 3)
    assert [(one["first"], one["second"]) for one in told["pairs"]] == [("ann", "bob")]
    read = page(out.read_text("utf-8"))
    assert "This list is for a person to review; it does not affect points." in read.text
    assert "class PatchEmbed" in read.text
    assert not {tag for tag, _ in read.tags} & {"script", "img"}


def test_the_skeleton_counts_for_nothing(handed_in: Path) -> None:
    run = CliRunner().invoke(main, ["similar", str(handed_in), "--base", str(handed_in / "ann.py")])
    assert run.stdout.startswith("0 pairs of 3 submissions")


def test_a_skeleton_that_is_none_and_a_missing_package_are_usage_errors(handed_in: Path) -> None:
    run = CliRunner().invoke(main, ["similar", str(handed_in), "--base", str(handed_in / "empty.py")])
    assert run.exit_code == 2
    assert "empty.py is empty" in run.output
    with patch("vitcheck.commands.similar.find_spec", return_value=None):
        run = CliRunner().invoke(main, ["similar", str(handed_in)])
    assert run.exit_code == 2
    assert "pip install 'vitcheck[similarity]'" in " ".join(run.output.split())
