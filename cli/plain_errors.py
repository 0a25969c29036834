"""What was asked wrongly is said in a sentence: a notebook shows no lines of vitcheck's own beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")


def said_plainly(function: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
    """The same, and IPython shows no more of what it raises than its kind and its message."""

    @wraps(function)
    def called(*args: _Given.args, **options: _Given.kwargs) -> _Returned:
        try:
            return function(*args, **options)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            error.__dict__["_render_traceback_"] = lambda: [said]  # which IPython asks for
            raise

    return called
