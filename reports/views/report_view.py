"""A result as the report of one submission shows it: built here, so that the template decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...checks.record.adjustment import Adjustment
from ...checks.record.result import MistakeResult, Result, Score, VariantResult
from ..words.assigned import assigned
from ..words.location_view import LocationView, place
from ..words.remarks import adjusted, remark
from ..words.standing import standing
from ..words.text import NAME_LIMIT, one_line, points, sentence
from ..words.wording import say
from .check_views import CheckGroup, other_checks, smallest_example, tally, wrong_checks
from .pass_view import PassView, pass_view
from .written_view import WrittenView, written_view


@dataclass(frozen=True)
class ScoreView:
    """Points, and the share earned in per cent."""

    earned: str
    possible: str
    percent: float


@dataclass(frozen=True)
class FindingView:
    """A mistake or a variant that was recognised."""

    id: str
    title: str
    stage: str
    anchor: str
    word: str
    text: str
    place: LocationView | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportView:
    """Everything on the page, in its order."""

    submission: str
    assignment: str
    score: ScoreView
    remark: str
    seen: PassView
    wrong_checks: tuple[CheckGroup, ...]
    other_checks: tuple[CheckGroup, ...]
    other_tally: str
    mistakes: tuple[FindingView, ...]
    variants: tuple[FindingView, ...]
    written: WrittenView | None


def report_view(result: Result, adjustment: Adjustment) -> ReportView:
    """All text in it is cleaned, and cut where it is long."""
    stands = standing(result)
    seen = pass_view(result, stands, smallest_example(result, stands.label))
    anchors = {one.label: one.anchor for one in seen.stages}
    others = other_checks(result, anchors)
    return ReportView(
        submission=one_line(result.submission, NAME_LIMIT),
        assignment=assigned(result),
        score=score_view(adjusted(result.score, adjustment)),
        remark=remark(adjustment),
        seen=seen,
        wrong_checks=wrong_checks(result, anchors),
        other_checks=others,
        other_tally=tally(others),
        mistakes=tuple(_mistake(one, anchors) for one in result.mistakes),
        variants=tuple(_variant(one, anchors) for one in result.variants),
        written=written_view(result, adjustment),
    )


def score_view(score: Score) -> ScoreView:
    """Zero per cent where nothing could be earned."""
    percent = 100 * score.earned / score.possible if score.possible else 0.0
    return ScoreView(points(score.earned), points(score.possible), round(min(max(percent, 0.0), 100.0), 1))


def _mistake(mistake: MistakeResult, anchors: Mapping[str, str]) -> FindingView:
    where = [mistake.kind, *([mistake.blocks] if mistake.blocks else [])]
    return FindingView(
        id=one_line(mistake.id),
        title=sentence(mistake.title),
        stage=one_line(mistake.stage),
        anchor=anchors.get(mistake.stage, ""),
        word=one_line(", ".join(where)),
        text=one_line(mistake.hint),
        place=place(mistake.location),
        also=tuple(map(one_line, mistake.also)),
    )


def _variant(variant: VariantResult, anchors: Mapping[str, str]) -> FindingView:
    return FindingView(
        id=one_line(variant.id),
        title=sentence(variant.title),
        stage=one_line(variant.stage),
        anchor=anchors.get(variant.stage, ""),
        word=say("findings.accepted" if variant.allowed else "findings.not_accepted"),
        text=one_line(variant.reason or ""),
    )
