"""Child side: the grader's own code is no part of a submission, which would find the answer key in it.

It says so where that is tried, and is all that stops it where there are limits alone. Elsewhere the kernel
has taken these files away (``sandbox.own_files``).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ...reference import sizes

_PACKAGE = f"{__package__.partition('.')[0]}."
_SUBMISSIONS = __package__.rpartition(".")[0]
_SAMPLES = f"{__package__}.sample"  # models that pass, and what asks for them
_ANSWERS = tuple(f"{form(Path(sizes.__file__).parent)}{os.sep}" for form in (str, os.path.realpath))
_WHY = "this is the grader's own code, not part of a submission"


def shut() -> None:
    """From now on no further part of vitcheck can be imported, and no file of the answer key opened.

    Python code cannot undo it. Raises ImportError and PermissionError where it is tried.
    """
    sys.addaudithook(_refuse)


def _is_ours(module: str) -> bool:
    own = module.startswith(_SUBMISSIONS) and not module.startswith(_SAMPLES)  # this side's own load late
    return module.startswith(_PACKAGE) and not own


def _refuse(event: str, given: tuple[object, ...]) -> None:
    if event == "import" and _is_ours(str(given[0])):
        raise ImportError(f"{given[0]}: {_WHY}")
    if event == "open" and isinstance(given[0], (str, bytes)) and _is_answer(os.fsdecode(given[0])):
        raise PermissionError(f"{given[0]!r}: {_WHY}")


def _is_answer(path: str) -> bool:
    return os.path.realpath(path).startswith(_ANSWERS)
