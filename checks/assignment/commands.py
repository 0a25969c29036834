"""The commands that repeat what a record tells of, as they are shown."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from .assignment import Assignment


def command_line(name: str, *words: str, assignment: Assignment, seed: int) -> str:
    """Return ``vitcheck NAME WORDS`` with its options, for a shell in the folder of the files."""
    return _line([name, *words], assignment.known_as, seed)


def again(words: Sequence[str], assignment: Assignment, seed: int, checks: Path | None = None) -> str:
    """Return ``vitcheck check WORDS`` with its options, for a shell where this was asked."""
    own = [] if checks is None else ["--checks", str(checks)]
    return _line(["check", *words, *own], assignment.asked_for, seed)


def again_by_author(files: Mapping[str, bytes], name: str, assignment: Assignment, seed: int) -> str:
    """Return the command for who wrote the files, and has what was handed out beside them."""
    code = [file for file in files if file.endswith((".py", ".ipynb"))]
    file = name if name.endswith((".py", ".ipynb")) or len(code) != 1 else code[0]
    words = ["vitcheck", "check", file]
    if not assignment.known_as.endswith(".toml"):  # one that ships; else it is the one beside the file
        words += ["--assignment", assignment.known_as]
    return shlex.join([*words, "--seed", str(seed)])


def _line(words: Sequence[str], assignment: str, seed: int) -> str:
    return shlex.join(["vitcheck", *words, "--assignment", assignment, "--seed", str(seed)])
