"""vitcheck grades Vision Transformer assignments.

>>> import vitcheck
>>> vitcheck.check("vit_transformer.py").score.earned
97.5
"""

import sys

# `python -m vitcheck` looks into the working folder first, where a student's typing.py or torch/ may lie;
# even annotations from __future__ would be looked for there
if sys.argv[:1] == ["-m"] and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    del sys.path[0]

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vitcheck.checks.assignment.assignment import Assignment
    from vitcheck.library import check, grade, trace
    from vitcheck.shown import Result, Trace

__all__ = ["Assignment", "Result", "Trace", "check", "grade", "trace"]
__version__ = "0.1.0"

_HOMES = {
    "Assignment": "checks.assignment.assignment",
    "Result": "shown",
    "Trace": "shown",
    "check": "library",
    "grade": "library",
    "trace": "library",
}  # imported when they are asked for: the command line begins with this file, too


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
