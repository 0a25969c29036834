"""The pages: one self-contained file each, which loads nothing and runs nothing but our own script."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...checks.record.pairs import Pair
from ...checks.record.result import Result
from ...checks.record.snapshot import Snapshot
from ..views.classes import index_view
from ..views.question_view import QuestionView
from ..views.report_view import report_view
from ..views.similar_view import similar_view
from ..views.snapshot_view import snapshot_view, wording_of
from ..views.summaries import Summary
from ..views.written_view import marking_view
from ..words.wording import say


def render(template: str, **values: object) -> str:
    """A file of ``templates`` with ``values`` in it, escaped."""
    return _environment().get_template(template).render(values) + "\n"


def render_report(result: Result, *, refresh_seconds: int | None = None) -> str:
    """The page of one submission, with figures if it has arrays. The same result gives the same text.

    It loads itself again every ``refresh_seconds``, if that is given.
    """
    return render("report.html", view=report_view(result), refresh=refresh_seconds)


def render_snapshot(snapshot: Snapshot) -> str:
    """The page of one picture's way through the reference or a student's code."""
    with wording_of(snapshot):
        return render("snapshot.html", view=snapshot_view(snapshot))


def render_marking(result: Result) -> str:
    """The page for who marks the answers in writing: each beside what to look for. Not for students."""
    return render("marking.html", view=marking_view(result))


def render_question(view: QuestionView) -> str:
    """The page of one question over all students, for who marks it. Not for students."""
    return render("question.html", view=view)


def render_similar(pairs: Sequence[Pair], compared: int, left_out: Mapping[str, str]) -> str:
    """The page of pairs among ``compared`` submissions; of those ``left_out`` it says why."""
    view = similar_view(pairs, compared, left_out)
    return render("similar.html", view=view)


def render_index(rows: Sequence[Summary]) -> str:
    """The page of a class; it links to ``NAME/report.html`` beside it for each submission called NAME."""
    return render("index.html", view=index_view(rows))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("vitcheck.reports.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["say"] = say
    environment.filters["digest"] = _digest
    return environment


def _digest(text: str) -> str:
    """What a Content-Security-Policy calls the content of a style or script element."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}"
