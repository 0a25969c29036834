"""The commands that repeat what a record tells of, as they are shown."""

from __future__ import annotations

import shlex

from .assignment import Assignment


def command_line(name: str, *words: str, assignment: Assignment, seed: int) -> str:
    """Return ``vitcheck NAME WORDS`` with its options, for a shell in the folder of the files."""
    options = ["--assignment", assignment.known_as, "--seed", str(seed)]
    return shlex.join(["vitcheck", name, *words, *options])
