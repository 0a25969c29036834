"""A result as the report of one submission shows it: built here, so that the template decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..checks.adjustment import Adjustment
from ..checks.result import MistakeResult, Result, Run, Score, VariantResult
from .check_views import CheckGroup, Counterexample, other_checks, smallest_example, tally, wrong_checks
from .diagram import WIDTH, Column, columns
from .figures import Arrays, Figure, figures, picture
from .places import Place, place
from .remarks import adjusted, remark
from .stages import StageView, State, Unseen, pipeline, unseen
from .standing import Standing, standing
from .text import NAME_LIMIT, TEXT_LIMIT, clean, one_line, points, sentence
from .wording import say
from .written import WrittenView, written_view

_LETTERS = "BCHWPNFTDhdMLK"  # of axes, in the order in which they come up


@dataclass(frozen=True)
class ScoreView:
    """Points, and the share earned in per cent."""

    earned: str
    possible: str
    percent: float


@dataclass(frozen=True)
class Finding:
    """A mistake or a variant that was recognised."""

    id: str
    title: str
    stage: str
    anchor: str
    word: str
    text: str
    place: Place | None
    also: tuple[str, ...]


@dataclass(frozen=True)
class NoteView:
    """Something inferred or left out."""

    kind: str
    text: str
    place: Place | None


@dataclass(frozen=True)
class ReportView:
    """Everything on the page, in its order."""

    submission: str
    assignment: str
    architecture: str
    score: ScoreView
    remark: str
    standing: Standing
    picture: Figure | None
    example: Counterexample | None
    columns: tuple[Column, ...]
    column_width: int
    legend: tuple[State, ...]
    axes: tuple[tuple[str, str], ...]
    stages: tuple[StageView, ...]
    figures: Mapping[str, tuple[Figure, ...]]
    unseen: tuple[Unseen, ...]
    has_arrays: bool
    wrong_checks: tuple[CheckGroup, ...]
    other_checks: tuple[CheckGroup, ...]
    other_tally: str
    mistakes: tuple[Finding, ...]
    variants: tuple[Finding, ...]
    notes: tuple[NoteView, ...]
    written: WrittenView | None
    facts: tuple[tuple[str, str], ...]


def report_view(result: Result, adjustment: Adjustment) -> ReportView:
    """All text in it is cleaned, and cut where it is long."""
    arrays = Arrays.read(result.arrays)
    stages, stands = pipeline(result), standing(result)
    anchors = {one.label: one.anchor for one in stages}
    first = next((picture(one, arrays) for one in stages if one.label == stands.label), None)
    others = other_checks(result, anchors)
    return ReportView(
        submission=one_line(result.submission, NAME_LIMIT),
        assignment=one_line(result.assignment, NAME_LIMIT),
        architecture=one_line(result.architecture or "", NAME_LIMIT),
        score=score_view(adjusted(result.score, adjustment)),
        remark=remark(adjustment),
        standing=stands,
        picture=first,
        example=smallest_example(result, stands.label),
        columns=columns(stages),
        column_width=WIDTH,
        legend=tuple(one for one in State if any(stage.state is one for stage in stages)),
        axes=_axes_used(stages),
        stages=stages,
        figures={one.label: figures(one, arrays) for one in stages},
        unseen=unseen(stages),
        has_arrays=bool(arrays.stages),
        wrong_checks=wrong_checks(result, anchors),
        other_checks=others,
        other_tally=tally(others),
        mistakes=tuple(_mistake(one, anchors) for one in result.mistakes),
        variants=tuple(_variant(one, anchors) for one in result.variants),
        notes=tuple(NoteView(one_line(n.kind), clean(n.text), place(n.location)) for n in result.notes),
        written=written_view(result, adjustment),
        facts=_facts(result.run),
    )


def score_view(score: Score) -> ScoreView:
    """Zero per cent where nothing could be earned."""
    percent = 100 * score.earned / score.possible if score.possible else 0.0
    return ScoreView(points(score.earned), points(score.possible), round(min(max(percent, 0.0), 100.0), 1))


def _axes_used(stages: tuple[StageView, ...]) -> tuple[tuple[str, str], ...]:
    used = {axis.letter for stage in stages for axis in stage.expected}
    return tuple((letter, say(f"letter.{letter}")) for letter in _LETTERS if letter in used)


def _mistake(mistake: MistakeResult, anchors: Mapping[str, str]) -> Finding:
    where = [mistake.kind, *([mistake.blocks] if mistake.blocks else [])]
    return Finding(
        id=one_line(mistake.id),
        title=sentence(mistake.title),
        stage=one_line(mistake.stage),
        anchor=anchors.get(mistake.stage, ""),
        word=one_line(", ".join(where)),
        text=one_line(mistake.hint),
        place=place(mistake.location),
        also=tuple(map(one_line, mistake.also)),
    )


def _variant(variant: VariantResult, anchors: Mapping[str, str]) -> Finding:
    return Finding(
        id=one_line(variant.id),
        title=sentence(variant.title),
        stage=one_line(variant.stage),
        anchor=anchors.get(variant.stage, ""),
        word=say("findings.accepted" if variant.allowed else "findings.not_accepted"),
        text=one_line(variant.reason or ""),
        place=None,
        also=(),
    )


def _facts(run: Run) -> tuple[tuple[str, str], ...]:
    facts = {
        "seed": str(run.seed),
        "time": say("run.seconds", seconds=f"{run.seconds:.1f}"),
        "examples": say("run.drawn", examples=run.examples) if run.examples else "",
        "sizes": ", ".join(f"{name} {size}" for name, size in run.sizes.items()),
        "isolation": ", ".join(run.isolation) or say("run.none"),
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(run.versions.items())),
        "command": run.command or "",
    }
    return tuple((say(f"run.{name}"), one_line(text, TEXT_LIMIT)) for name, text in facts.items() if text)
