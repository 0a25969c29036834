"""The summary of a job on GitHub."""

from __future__ import annotations

from ...checks.record.result import Result
from ..pages.html import render
from ..views.card import card
from ..views.stage_views import pipeline
from ..words.assigned import assigned
from ..words.scores import score_view
from ..words.standing import findings, standing
from ..words.text import NAME_LIMIT, one_line
from .repository import Repository


def job_summary(result: Result, _: Repository) -> str:
    """The score, the card of the first thing wrong, a line for each other, and the pipeline as a table.

    It is HTML without an empty line, in which Markdown has no meaning: what a student wrote cannot format it.
    """
    name = one_line(result.submission, NAME_LIMIT)
    return render(
        "job_summary.html",
        name=name,
        assignment=assigned(result),
        score=score_view(result).text,
        card=card(result, standing(result)),
        more=list(findings(result))[1:],
        stages=pipeline(result),
    )
