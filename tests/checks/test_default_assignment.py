"""Which assignment is meant where none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from vitcheck.checks.assignment.default_assignment import DEFAULT, assignment_for


@pytest.mark.parametrize(
    ("lies", "work"),
    [
        ("assignment.toml", "vit.py"),
        ("vit/assignment.toml", "vit"),  # a package is handed in
        ("assignment.toml", "ann/vit.py"),
        ("assignment.toml", "week-1/ann/src/vit.py"),
    ],
)
def test_it_lies_beside_the_work_in_it_or_above_it(tmp_path: Path, lies: str, work: str) -> None:
    for one in (tmp_path / lies, tmp_path / work / "model.py" if work == "vit" else tmp_path / work):
        one.parent.mkdir(parents=True, exist_ok=True)
        one.write_text("")
    assert assignment_for(tmp_path / work) == str(tmp_path / lies)


def test_the_nearest_one_is_meant(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    for folder in (tmp_path, tmp_path / "ann"):
        (folder / "assignment.toml").touch()
    assert assignment_for(tmp_path / "ann" / "vit.py") == str(tmp_path / "ann" / "assignment.toml")


def test_none_is_looked_for_above_a_repository_or_far_away(tmp_path: Path) -> None:
    (tmp_path / "assignment.toml").touch()
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    assert assignment_for(tmp_path / "repository" / "vit.py") == DEFAULT
    assert assignment_for(tmp_path / "a" / "b" / "c" / "d" / "vit.py") == DEFAULT
