"""Grading, imported when it is first asked for: it loads torch, and by then the zygote is loading its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ...submissions.host.collecting import nothing_collected
from ...submissions.launching import elsewhere

if TYPE_CHECKING:
    from ..record.result import Result


def grader() -> Callable[..., Result]:
    """The function ``grading.grade``."""
    _load()
    from .grading import grade

    return grade


@cache
def _load() -> None:
    with nothing_collected(), elsewhere():
        importlib.import_module(f"{__package__}.grading")
