"""How far the hints go that students may see: an assignment sets the lowest rung. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .hint_rungs import Hints
from .result import CheckResult, Result, StageResult
from .sentences import as_sentence


def explains(result: Result) -> bool:
    """Do the hints of this record go all the way down? Those of a whole one do."""
    return result.told is None or result.asked is None or result.asked.hints is Hints.EXPLAIN


def down_to(result: Result, lowest: Hints) -> Result:
    """The record without the rungs below that. With the question goes the name, which answers it."""
    if lowest is Hints.EXPLAIN:
        return result
    if not lowest.has(Hints.QUESTION):
        return _unnamed(result)
    gone = {"explanation": ""} if lowest.has(Hints.TRY) else {"explanation": "", "experiment": ""}
    return result.model_copy(
        update={"mistakes": [one.model_copy(update=gone) for one in result.mistakes]},
    )


def _unnamed(result: Result) -> Result:
    titles = {one.id: as_sentence(one.title) for one in result.mistakes}
    stages = {label: one.model_copy(update=_of_stage(one, titles)) for label, one in result.stages.items()}
    checks = [one.model_copy(update=_of_check(one, titles)) for one in result.checks]
    return result.model_copy(update={"mistakes": [], "stages": stages, "checks": checks})


def _of_stage(stage: StageResult, titles: Mapping[str, str]) -> dict[str, Any]:
    message = stage.message and (_without_names(stage.message, titles) or None)
    return {"mistakes": [], "hint": None, "message": message}


def _of_check(check: CheckResult, titles: Mapping[str, str]) -> dict[str, Any]:
    return {"mistakes": [], "message": _without_names(check.message, titles)}


def _without_names(message: str, titles: Mapping[str, str]) -> str:
    """A message begins with what its mistake is called."""
    for one in titles.values():
        message = message.replace(one, "")
    return " ".join(message.split())
