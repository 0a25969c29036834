"""A result as the output of a notebook's cell: its score, the first thing wrong, and the pipeline."""

from __future__ import annotations

from dataclasses import dataclass

from ...checks.record.result import Result, StageStatus
from ..views.card import Card, card
from ..views.diagram import DiagramColumn, columns
from ..views.diagram_nodes import WIDTH
from ..views.stage_views import StageView, State, pipeline, states_of
from ..views.strip import Strip, strip
from ..words.assigned import assigned
from ..words.scores import ScoreView, score_view
from ..words.standing import Standing, findings, standing
from ..words.text import NAME_LIMIT, one_line
from ..words.wording import say
from .html import render


@dataclass(frozen=True)
class CellView:
    """Everything in the output; ``stage`` is the one that was asked about, and takes the card's place."""

    submission: str
    assignment: str
    score: ScoreView
    card: Card
    more: tuple[Standing, ...]
    stage: StageView | None
    elsewhere: str
    strip: Strip | None
    columns: tuple[DiagramColumn, ...]
    column_width: int
    legend: tuple[State, ...]


def render_for_notebook(result: Result, label: str | None = None) -> str:
    """A piece of HTML with its own styles, and no script, id or link; about the stage ``label`` if given."""
    return render("notebook.html", view=_view(result, label))


def elsewhere(result: Result, label: str) -> str:
    """What else is wrong, where the stage ``label`` itself does not say it; empty where nothing is."""
    stands = standing(result)
    if stands.tone != "wrong" or result.stages[label].status is not StageStatus.PASSED:
        return ""
    return say("cell.elsewhere", what=stands.heading if stands.label else stands.claim)


def _view(result: Result, label: str | None) -> CellView:
    stages = pipeline(result)
    stage = next((one for one in stages if one.label == label), None)
    shown = [one for one in stages if one.state is not State.NOT_APPLICABLE]
    found, stands = list(findings(result)), standing(result)
    return CellView(
        submission=one_line(result.submission, NAME_LIMIT),
        assignment=assigned(result),
        score=score_view(result),
        card=card(result, stands),
        more=tuple(found[1:]),
        stage=stage,
        elsewhere=elsewhere(result, stage.label) if stage else "",
        strip=strip(shown, stands, len(found)),
        columns=columns(shown, {}),
        column_width=WIDTH,
        legend=states_of(shown),
    )
