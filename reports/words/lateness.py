"""How late something was handed in, in words."""

from __future__ import annotations

from ...checks.record.lateness import Lateness
from ...checks.record.result import Result
from .text import points, sentence
from .wording import say


def late_text(result: Result) -> str:
    """All that is to be said; empty where nothing is known."""
    late = result.lateness
    if late is None:
        return ""
    is_taken = bool(late.percent) and result.adjustment.comment == why_taken(late)
    return sentence(lateness_text(late, result.score.possible, result.score.earned, is_taken=is_taken))


def lateness_text(late: Lateness, possible: float, earned: float, *, is_taken: bool = False) -> str:
    """When it was handed in, and what the policy takes of these points, unless that ``is_taken`` already."""
    submitted = late.submitted.astimezone(late.due.tzinfo).isoformat(" ", "minutes")
    if not late.minutes:
        return say("late.in_time", submitted=submitted)
    parts = [say("late.late", submitted=submitted, by=span(late.minutes))]
    parts += [say("late.free", days=late.free_days)] if late.free_days else []
    if late.percent and not is_taken:
        taken = points(late.points(possible, earned))
        parts.append(say("late.takes", percent=points(late.percent), of=late.of, points=taken))
    return "; ".join(parts)


def span(minutes: int) -> str:
    """Such as "1 d 3 h"."""
    hours, days = minutes // 60, minutes // 1440
    if days:
        return say("late.days", days=days, hours=hours % 24)
    if hours:
        return say("late.hours", hours=hours, minutes=minutes % 60)
    return say("late.minutes", minutes=minutes)


def why_taken(late: Lateness) -> str:
    """The reason of an adjustment, for the student."""
    return say("late.taken", by=span(late.minutes), percent=points(late.percent), of=late.of)
