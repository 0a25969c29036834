"""No regular expression of the package takes long with any text that it may be given."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

_CHARACTERS = 1_000  # half of what an expression sees of a line
_SECONDS = 60  # of the processor, for about 90 expressions and 200 texts each; a cubic one alone takes 80


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))


def test_no_expression_takes_long_with_hostile_texts() -> None:
    command = [sys.executable, str(Path(__file__).with_name("patterns.py")), str(_CHARACTERS)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=_bounded)
    assert done.returncode == 0, f"it was at {done.stdout.splitlines()[-1:]} {done.stderr}"
