"""What else is wrong beside the first thing, in a line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...checks.record.result import Result
from ..words.standing import Standing, findings, symptoms
from ..words.text import clean, one_line
from ..words.wording import say
from .card import Card, card


@dataclass(frozen=True)
class Further:
    """A finding as a line, which leads to its stage, or unfolds the ``card`` of what has none."""

    label: str
    claim: str
    where: str
    anchor: str
    card: Card | None


@dataclass(frozen=True)
class FurtherFindings:
    """All of them, and the checks that may fail for the same reasons, with what each says."""

    advice: str
    findings: tuple[Further, ...]
    symptoms: tuple[tuple[str, str], ...]


def further_findings(result: Result, anchors: Mapping[str, str]) -> FurtherFindings:
    """What comes after the first, in the same order."""
    found = list(findings(result))
    advice = say("further.advice", label=found[0].label) if len(found) > 1 and found[0].label else ""
    return FurtherFindings(
        advice,
        tuple(_further(result, one, anchors) for one in found[1:]),
        tuple((one_line(one.title), clean(one.message)) for one in symptoms(result)),
    )


def _further(result: Result, found: Standing, anchors: Mapping[str, str]) -> Further:
    anchor = anchors.get(found.label, "")
    where = say("findings.line", line=found.place.line) if found.place else ""
    return Further(found.label, found.claim, where, anchor, None if anchor else card(result, found))
