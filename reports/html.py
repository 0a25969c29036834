"""The pages: one self-contained file each, with no script and nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..checks.adjustment import UNADJUSTED, Adjustment
from ..checks.pairs import Pair
from ..checks.result import Result
from .classes import index_view
from .similar import similar_view
from .summaries import Summary
from .view import report_view
from .wording import say
from .written import marking_view


def render_report(result: Result, adjustment: Adjustment = UNADJUSTED) -> str:
    """The page of one submission, with figures if it has arrays. The same result gives the same text."""
    return _environment().get_template("report.html").render(view=report_view(result, adjustment)) + "\n"


def render_marking(result: Result, adjustment: Adjustment = UNADJUSTED) -> str:
    """The page for who marks the answers in writing: each beside what to look for. Not for students."""
    view = marking_view(result, adjustment)
    return _environment().get_template("marking.html").render(view=view) + "\n"


def render_similar(pairs: Sequence[Pair], compared: int, left_out: Mapping[str, str]) -> str:
    """The page of pairs among ``compared`` submissions; of those ``left_out`` it says why."""
    view = similar_view(pairs, compared, left_out)
    return _environment().get_template("similar.html").render(view=view) + "\n"


def render_index(rows: Sequence[Summary]) -> str:
    """The page of a class; it links to ``NAME/report.html`` beside it for each submission called NAME."""
    return _environment().get_template("index.html").render(view=index_view(rows)) + "\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("vitcheck.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["say"] = say
    return environment
