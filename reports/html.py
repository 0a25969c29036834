"""The pages: one self-contained file each, with no script and nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..checks.adjustment import UNADJUSTED, Adjustment
from ..checks.result import Result
from .classes import index_view
from .summaries import Summary
from .view import report_view
from .wording import say


def render_report(
    result: Result, adjustment: Adjustment = UNADJUSTED, *, refresh_seconds: int | None = None
) -> str:
    """The page of one submission, with figures if it has arrays. The same result gives the same text.

    It loads itself again every ``refresh_seconds``, if that is given.
    """
    view = report_view(result, adjustment)
    return environment().get_template("report.html").render(view=view, refresh=refresh_seconds) + "\n"


def render_index(rows: Sequence[Summary]) -> str:
    """The page of a class; it links to ``NAME/report.html`` beside it for each submission called NAME."""
    return environment().get_template("index.html").render(view=index_view(rows)) + "\n"


@cache
def environment() -> Environment:
    """How templates are read: what is put into them is escaped, and nothing may be missing."""
    found = Environment(
        loader=PackageLoader("vitcheck.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["say"] = say
    return found
