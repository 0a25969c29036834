"""A result as the report of one submission shows it: built here, so that the template decides nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from ..checks.adjustment import Adjustment
from ..checks.result import CheckResult, MistakeResult, Outcome, Result, Run, Score, VariantResult
from .places import Place, place
from .remarks import adjusted, remark
from .stages import Lane, StageView, State, lanes, pipeline
from .standing import Standing, standing
from .text import NAME_LIMIT, TEXT_LIMIT, clean, count, one_line, points, sentence

OUTCOMES = {
    Outcome.PASSED: ("passed", "✓", "passed"),
    Outcome.FAILED: ("failed", "✗", "failed"),
    Outcome.ERRORED: ("failed", "✗", "raised an error"),
    Outcome.TIMED_OUT: ("failed", "✗", "timed out"),
    Outcome.NOT_REACHED: ("not-reached", "?", "not reached"),
    Outcome.SKIPPED: ("not-applicable", "-", "skipped"),
}

_AXES = {
    "B": "images in the batch",
    "C": "channels",
    "H": "image height",
    "W": "image width",
    "P": "patch side",
    "N": "patches",
    "F": "numbers in a flattened patch",
    "T": "tokens",
    "D": "model width",
    "h": "heads",
    "d": "width of a head",
    "M": "MLP width",
    "L": "blocks",
    "K": "classes",
}


@dataclass(frozen=True)
class ScoreView:
    """Points, and the share earned in per cent."""

    earned: str
    possible: str
    percent: float


@dataclass(frozen=True)
class CheckView:
    """A row of the table of checks."""

    id: str
    title: str
    style: str
    sign: str
    word: str
    points: str
    message: str
    counterexample: tuple[tuple[str, str], ...]
    command: str


@dataclass(frozen=True)
class CheckGroup:
    """The checks of one stage, or those of the whole model; ``anchor`` is the stage's section or empty."""

    title: str
    anchor: str
    checks: tuple[CheckView, ...]


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
    lanes: tuple[Lane, ...]
    legend: tuple[State, ...]
    axes: tuple[tuple[str, str], ...]
    stages: tuple[StageView, ...]
    checks: tuple[CheckGroup, ...]
    mistakes: tuple[Finding, ...]
    variants: tuple[Finding, ...]
    notes: tuple[NoteView, ...]
    facts: tuple[tuple[str, str], ...]


def report_view(result: Result, adjustment: Adjustment) -> ReportView:
    """All text in it is cleaned, and cut where it is long."""
    stages = pipeline(result)
    anchors = {one.label: one.anchor for one in stages}
    return ReportView(
        submission=one_line(result.submission, NAME_LIMIT),
        assignment=one_line(result.assignment, NAME_LIMIT),
        architecture=one_line(result.architecture or "", NAME_LIMIT),
        score=score_view(adjusted(result.score, adjustment)),
        remark=remark(adjustment),
        standing=standing(result),
        lanes=lanes(stages),
        legend=tuple(one for one in State if any(stage.state is one for stage in stages)),
        axes=_axes_used(stages),
        stages=stages,
        checks=_check_groups(result, anchors),
        mistakes=tuple(_mistake(one, anchors) for one in result.mistakes),
        variants=tuple(_variant(one, anchors) for one in result.variants),
        notes=tuple(NoteView(one_line(n.kind), clean(n.text), place(n.location)) for n in result.notes),
        facts=_facts(result.run),
    )


def score_view(score: Score) -> ScoreView:
    """Zero per cent where nothing could be earned."""
    percent = 100 * score.earned / score.possible if score.possible else 0.0
    return ScoreView(points(score.earned), points(score.possible), round(min(max(percent, 0.0), 100.0), 1))


def _axes_used(stages: tuple[StageView, ...]) -> tuple[tuple[str, str], ...]:
    used = {axis.letter for stage in stages for axis in stage.expected}
    return tuple((letter, meaning) for letter, meaning in _AXES.items() if letter in used)


def _check_groups(result: Result, anchors: Mapping[str, str]) -> tuple[CheckGroup, ...]:
    order = {label: index for index, label in enumerate(result.stages)}
    ordered = sorted(result.checks, key=lambda one: order.get(one.stage or "", len(order)))
    return tuple(
        CheckGroup(one_line(title), anchors.get(title, ""), tuple(map(_check, checks)))
        for title, checks in groupby(ordered, key=_group)
    )


def _group(check: CheckResult) -> str:
    """Its stage, or what else it is about."""
    is_part = check.id.startswith(("component[", "exercise["))
    return check.stage or ("Parts" if is_part else "Model")


def _check(check: CheckResult) -> CheckView:
    style, sign, word = OUTCOMES[check.outcome]
    example = dict(check.counterexample or {})
    command = example.pop("command", "")
    return CheckView(
        id=one_line(check.id),
        title=one_line(check.title),
        style=style,
        sign=sign,
        word=word,
        points=f"{points(check.earned)} of {points(check.points)}",
        message=clean(check.message),
        counterexample=tuple((one_line(name), _json(value)) for name, value in example.items()),
        command=one_line(str(command), TEXT_LIMIT),
    )


def _json(value: object) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


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
        word="accepted" if variant.allowed else "not accepted",
        text=one_line(variant.reason or ""),
        place=None,
        also=(),
    )


def _facts(run: Run) -> tuple[tuple[str, str], ...]:
    facts = {
        "Seed": str(run.seed),
        "Time": f"{run.seconds:.1f} s",
        "Examples": count(run.examples, "example") + " drawn at random" if run.examples else "",
        "First example": ", ".join(f"{name} {size}" for name, size in run.sizes.items()),
        "Isolation": ", ".join(run.isolation) or "none",
        "Versions": ", ".join(f"{name} {version}" for name, version in sorted(run.versions.items())),
        "To repeat": run.command or "",
    }
    return tuple((name, one_line(text, TEXT_LIMIT)) for name, text in facts.items() if text)
