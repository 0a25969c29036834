"""The first thing to know, as a card: what is wrong, its code, the question, and steps that are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...checks.record.hints import explains
from ...checks.record.result import MistakeResult, Result, StageResult
from ...checks.record.snapshot import Record
from ..figures.figure_parts import Figure
from ..words.got import got
from ..words.location_view import LocationView
from ..words.numbers import expected_axes, shape_text
from ..words.standing import Standing
from ..words.text import clean, one_line
from ..words.wording import say
from .check_views import Counterexample

_LIMIT = 800  # characters of what was measured

Facts = tuple[tuple[str, str], ...]  # names and texts


@dataclass(frozen=True)
class Explanation:
    """What a mistake does, beside the equation, and what to try; ``command``, if any, tells more of it."""

    text: str
    experiment: str
    equation: str
    command: str


@dataclass(frozen=True)
class Card:
    """Everything on it, in its order; ``anchor`` is of its stage's section. What is not known is empty."""

    tone: str
    label: str
    overline: str
    heading: str
    anchor: str
    lead: str
    place: LocationView | None
    question: str
    advice: str
    facts: Facts
    explanation: Explanation | None
    picture: Figure | None = None
    example: Counterexample | None = None

    def shown(self, picture: Figure | None, example: Counterexample | None) -> Card:
        """The same with what is drawn of it, and sizes at which it shows."""
        return replace(self, picture=picture, example=example)


def card(record: Record, stands: Standing) -> Card:
    """All text in it is cleaned, and cut where it is long."""
    stage = record.stages.get(stands.label)
    wrong = stage if stands.tone == "wrong" else None
    named = next((one for one in record.mistakes if stands.mistake and one.id == stands.mistake), None)
    return Card(
        tone=stands.tone,
        label=stands.label,
        overline=" · ".join(filter(None, (stands.about, _where(stands.place)))),
        heading=stands.claim,
        anchor=stands.anchor if stage else "",
        lead="" if stands.claims_sentence else stands.sentence,
        place=stands.place,
        question=stands.question,
        advice=stands.advice,
        facts=tuple(_facts(record, stands, wrong, named)),
        explanation=_explanation(record, stands, wrong, named),
    )


def _where(place: LocationView | None) -> str:
    return f"{place.file}, {say('findings.line', line=place.line)}" if place else ""


def _facts(
    record: Record, stands: Standing, stage: StageResult | None, named: MistakeResult | None
) -> Iterator[tuple[str, str]]:
    if stage:
        yield say("card.equation"), one_line(stage.equation)
        if stage.shape == stage.expected_shape:
            yield say("card.shape"), say("card.shape_right", shape=shape_text(expected_axes(stage)))
        if told := got(stage):
            yield say("card.measured" if stage.shape else "card.happened"), one_line(told, _LIMIT)
    if stands.proof:
        yield say("card.proof"), stands.proof
    if named and named.blocks:
        yield say("card.blocks"), one_line(named.blocks)
    if named and named.also:
        yield say("card.also"), one_line(", ".join(named.also))
    if reason := _reason(record, stands):
        yield say("card.reason"), reason


def _reason(record: Record, stands: Standing) -> str:
    """Why the assignment does not accept what is right in some courses."""
    variants = record.variants if isinstance(record, Result) else []
    reasons = (one.reason for one in variants if one.id == stands.mistake and not one.allowed)
    return one_line(next(reasons, None) or "")


def _explanation(
    record: Record, stands: Standing, stage: StageResult | None, named: MistakeResult | None
) -> Explanation | None:
    about = stands.mistake or (stands.label if stage else "")
    hides = isinstance(record, Result) and not explains(record)
    if not about or (hides and not (named and named.experiment)):
        return None
    return Explanation(
        text=clean(named.explanation) if named else "",
        experiment=clean(named.experiment) if named else "",
        equation=one_line(f"{stands.label} = {stage.equation}") if stage else "",
        command="" if hides else f"vitcheck explain {about}",
    )
