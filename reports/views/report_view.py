"""A result as the report of one submission shows it: built here, so that the template decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...checks.record.for_students import for_students
from ...checks.record.result import Result, VariantResult
from ..words.assigned import assigned
from ..words.lateness import late_text
from ..words.remarks import remark
from ..words.scores import ScoreView, score_view
from ..words.standing import findings, standing
from ..words.text import NAME_LIMIT, one_line, sentence
from ..words.wording import count, say
from .check_views import CheckGroup, check_groups, smallest_example, tally
from .findings_view import FurtherFindings, further_findings
from .pass_view import PassView, pass_view
from .strip import Strip, strip
from .written_view import WrittenView, written_view


@dataclass(frozen=True)
class VariantView:
    """A variant that was recognised."""

    id: str
    title: str
    stage: str
    anchor: str
    word: str
    reason: str


@dataclass(frozen=True)
class ReportView:
    """Everything on the page, in its order."""

    submission: str
    overline: str
    score: ScoreView
    remark: str
    lateness: str
    audience: str  # what else there is, or that this is not for students
    strip: Strip | None
    seen: PassView
    further: FurtherFindings
    checks: tuple[CheckGroup, ...]
    tally: str
    variants: tuple[VariantView, ...]
    written: WrittenView | None


def report_view(result: Result) -> ReportView:
    """All text in it is cleaned, and cut where it is long."""
    stands = standing(result)
    seen = pass_view(result, stands, smallest_example(result, stands.label), fold=True)
    anchors = {one.label: one.anchor for one in seen.stages}
    checks = check_groups(result, anchors)
    return ReportView(
        submission=one_line(result.submission, NAME_LIMIT),
        overline=overline(result),
        score=score_view(result),
        remark=remark(result.adjustment),
        lateness=late_text(result),
        audience=_audience(result),
        strip=strip(seen.stages, stands, len(list(findings(result)))),
        seen=seen,
        further=further_findings(result, anchors),
        checks=checks,
        tally=tally(checks),
        variants=tuple(_variant(one, anchors) for one in result.variants),
        written=written_view(result),
    )


def _audience(result: Result) -> str:
    """Empty where all of it may be read by everyone."""
    if result.later:
        return say("for_students.later")
    shown = result.told is not None or not for_students(result).later
    return "" if shown else say("for_students.whole")


def overline(result: Result) -> str:
    """What it was judged by, as what, and on how many models."""
    seen = one_line(result.architecture or "", NAME_LIMIT)
    parts = (
        assigned(result),
        say("page.architecture", name=seen) if seen else "",
        count(result.run.examples, "random_model") if result.run.examples else "",
    )
    return " · ".join(filter(None, parts))


def _variant(variant: VariantResult, anchors: Mapping[str, str]) -> VariantView:
    return VariantView(
        id=one_line(variant.id),
        title=sentence(variant.title),
        stage=one_line(variant.stage),
        anchor=anchors.get(variant.stage, ""),
        word=say("findings.accepted" if variant.allowed else "findings.not_accepted"),
        reason=one_line(variant.reason or ""),
    )
