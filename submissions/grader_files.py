"""Child side: the grader's own code is no part of a submission, which would find the answer key in it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..reference import sizes

_PACKAGE = f"{__package__.partition('.')[0]}."
_ANSWERS = f"{Path(sizes.__file__).parent}{os.sep}"
_WHY = "this is the grader's own code, which is no part of a submission"


def shut() -> None:
    """From now on no further part of vitcheck can be imported, and no file of the answer key opened.

    Python code cannot undo it. Raises ImportError and PermissionError where it is tried.
    """
    sys.addaudithook(_refuse)


def _is_ours(module: str) -> bool:
    return module.startswith(_PACKAGE) and not module.startswith(__package__)  # this side's own load late


def _refuse(event: str, given: tuple[object, ...]) -> None:
    if event == "import" and _is_ours(str(given[0])):
        raise ImportError(f"{given[0]}: {_WHY}")
    if event == "open" and isinstance(given[0], str) and os.path.realpath(given[0]).startswith(_ANSWERS):
        raise PermissionError(f"{given[0]}: {_WHY}")
